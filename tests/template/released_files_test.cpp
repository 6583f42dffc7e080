// SPDX-License-Identifier: Apache-2.0
// Tests that template and wisdom files of every released version are read (docs/promises.md). Each folder of
// tests/data is a version, with files that it wrote. What they hold is known by definition: templates of
// cosines. SFFT_WRITE_FILES=FOLDER writes the files of this version.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numbers>
#include <string>
#include <vector>

#include "sfft/sfft.hpp"
#include "sfft/template_access.hpp"
#include "template/data/template_data.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::released_files_test {
namespace {

namespace fs = std::filesystem;

/// A cosine, or a complex tone of the first frequency alone.
struct Tone {
  std::int64_t row, column;
  double amplitude, phase;
};

// Neither list may change: files of released versions were made from them.
const Shape kImage{24, 32}, kLine{120};
constexpr double kMean = 110;
const std::vector<Tone> kKept{{0, 3, 20, 0.3},  {1, 2, 17, -1.1}, {2, 14, 15, 2},   {5, 1, 13, 0.7},
                              {7, 9, 11, -2.5}, {10, 4, 9, 1.9},  {11, 12, 8, -0.2}};
const std::vector<Tone> kOutside{{3, 5, 2, 0.1}, {4, 11, 1.5, 1.4}, {9, 7, 1, -0.9}};
const std::vector<Tone> kOfLine{{0, 7, 3, 0.5}, {0, 31, 2, -1}, {0, 100, 1, 2.2}};
const PlanOptions kPlan{.device = Device::cpu(), .max_samples = 0.9, .path = Path::comb};

std::vector<float> image(bool outside) {
  std::vector<float> samples;
  for (std::int64_t y = 0; y < kImage[0]; ++y) {
    for (std::int64_t x = 0; x < kImage[1]; ++x) {
      double value = kMean;
      for (const auto* tones : {&kKept, &kOutside}) {
        if (tones == &kOutside && !outside) continue;
        for (const Tone& tone : *tones)
          value += tone.amplitude * std::cos(2 * std::numbers::pi *
                                                 (static_cast<double>(tone.row * y) / 24 +
                                                  static_cast<double>(tone.column * x) / 32) +
                                             tone.phase);
      }
      samples.push_back(static_cast<float>(value));
    }
  }
  return samples;
}

std::vector<std::complex<float>> line() {
  std::vector<std::complex<float>> samples;
  for (int t = 0; t < 120; ++t) {
    std::complex<double> value = 0;
    for (const Tone& tone : kOfLine)
      value += std::polar(tone.amplitude,
                          2 * std::numbers::pi * static_cast<double>(tone.column * t) / 120 + tone.phase);
    samples.emplace_back(value);
  }
  return samples;
}

/// X at the support of the image, in its order: the mean, then cosines by rows.
std::vector<std::complex<double>> values_of_image() {
  std::vector<std::complex<double>> values{768 * kMean};
  for (const Tone& tone : kKept) values.push_back(std::polar(768 / 2.0 * tone.amplitude, tone.phase));
  return values;
}

std::vector<std::int64_t> support_of_image() {
  std::vector<std::int64_t> support{0};
  for (const Tone& tone : kKept) support.push_back(tone.row * 32 + tone.column);
  return support;
}

/// Entries of devices that no machine has, so that every machine takes them.
constexpr const char* kWisdom = R"({"format": "sfft-wisdom", "version": 3, "entries": [
{"device":"CPU of a test","driver":"","library":"0.2.0","transform":"f64 r2c 1080x1920","batch":4,"engine":"built_in","kernel":"","us":9800.5},
{"device":"GPU of a test","driver":"13.0","library":"0.2.0","transform":"f32 c2c 1080x1920","batch":1,"engine":"vkfft","kernel":"","us":61.5},
{"device":"GPU of a test","driver":"13.0","library":"0.2.0","transform":"f32 c2c 240","batch":139810,"engine":"tuned","kernel":"kernel radices=15.16 threads_per_transform=16 transforms_per_block=4 prefetch_distance=25","us":128.7}
]}
)";

void write_files(const fs::path& folder) {
  fs::create_directories(folder);
  const auto frame = image(true);
  const auto signal = line();
  const LearnOptions largest{.keep = Largest{8}, .device = Device::cpu()};
  const Template learned = learn(SignalView(frame, kImage), largest);
  LearnOptions with_reference = largest;
  with_reference.reference = true;
  learned.save((folder / "learned.sfft").string());
  Plan<float>(learned, kPlan).keep_in(learned).save((folder / "kept-plan.sfft").string());
  learn(SignalView(frame, kImage), with_reference).save((folder / "reference.sfft").string());
  Template::from_support(kImage, Domain::real, support_of_image()).save((folder / "support.sfft").string());
  const std::vector<SignalView> twice{SignalView::line(signal), SignalView::line(signal)};
  learn(twice, {.keep = Largest{3}, .device = Device::cpu()}).save((folder / "line.sfft").string());
  const fs::path drawn = fs::temp_directory_path() / "sfft-drawn-wisdom.json";
  std::ofstream(drawn) << kWisdom;
  dense::load_wisdom(drawn.string());
  dense::save_wisdom((folder / "wisdom.json").string());
  fs::remove(drawn);
}

std::vector<fs::path> released() {
  if (const char* folder = std::getenv("SFFT_WRITE_FILES")) write_files(folder);
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(SFFT_TEST_DATA))
    if (entry.is_directory()) folders.push_back(entry.path());
  return folders;
}

class ReleasedFiles : public testing::TestWithParam<fs::path> {
 protected:
  Template load(const char* name) const { return Template::load((GetParam() / name).string()); }
};

void check_image(const Template& tmpl) {
  EXPECT_EQ(tmpl.shape(), kImage);
  EXPECT_EQ(tmpl.domain(), Domain::real);
  EXPECT_EQ(std::vector<std::int64_t>(tmpl.support().begin(), tmpl.support().end()), support_of_image());
  EXPECT_EQ(tmpl.kept_plans_problem(), "");
}

/// Samples were rounded to float, whose error is 6e-8 of the mean: 0.2 in a sum over 768 of them at most.
void check_learned(const Template& tmpl) {
  check_image(tmpl);
  const auto expected = values_of_image();
  ASSERT_EQ(tmpl.values().size(), expected.size());
  double held = 0, outside = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LE(std::abs(tmpl.values()[i] - expected[i]), 0.01) << i;
    EXPECT_NEAR(tmpl.power()[i], std::norm(expected[i]), 1e-4 * std::norm(expected[i])) << i;
    if (i > 0) held += 2 * std::norm(expected[i]);
  }
  for (const Tone& tone : kOutside) outside += 2 * std::pow(768 / 2.0 * tone.amplitude, 2);
  EXPECT_NEAR(tmpl.tail_energy(), outside, 1e-4 * outside);
  EXPECT_NEAR(tmpl.energy_captured(), held / (held + outside), 1e-6);
}

TEST_P(ReleasedFiles, Templates) {
  check_learned(load("learned.sfft"));
  EXPECT_FALSE(load("learned.sfft").has_reference());
  check_image(load("support.sfft"));
  EXPECT_TRUE(load("support.sfft").values().empty());

  const Template line_template = load("line.sfft");
  EXPECT_EQ(line_template.domain(), Domain::complex);
  EXPECT_EQ(line_template.shape(), kLine);
  ASSERT_EQ(line_template.k(), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(line_template.support()[i], kOfLine[i].column);
    EXPECT_LE(std::abs(line_template.values()[i] - std::polar(120 * kOfLine[i].amplitude, kOfLine[i].phase)),
              1e-3);
  }
}

TEST_P(ReleasedFiles, Reference) {
  const Template tmpl = load("reference.sfft");
  check_learned(tmpl);
  ASSERT_TRUE(tmpl.has_reference());
  const detail::TemplateData& data = *detail::data_of(tmpl);
  EXPECT_EQ(data.reference_type, ElementType::f32);
  const auto expected = image(true);
  ASSERT_EQ(data.reference.size(), expected.size() * sizeof(float));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    float sample = 0;
    std::memcpy(&sample, data.reference.data() + i * sizeof sample, sizeof sample);
    EXPECT_NEAR(sample, expected[i], 1e-4) << i;
  }
  // The first cosine has grown: the change lies on the support, so a plan recovers it.
  auto frame = expected;
  for (std::size_t i = 0; i < frame.size(); ++i)
    frame[i] +=
        static_cast<float>(5 * std::cos(2 * std::numbers::pi * 3 * static_cast<double>(i % 32) / 32 + 0.3));
  auto values = values_of_image();
  values[1] *= 1.25;
  const auto spectrum = Plan<double>(tmpl, {.device = Device::cpu()}).execute(SignalView(frame, kImage));
  // Repeating the reference would be wrong by 0.02; the plan expects smaller changes than this one.
  EXPECT_LE(test::relative_l2(spectrum.values, values), 2e-3);
}

TEST_P(ReleasedFiles, KeptPlan) {
  const Template tmpl = load("kept-plan.sfft");
  check_learned(tmpl);
  ASSERT_EQ(tmpl.kept_plans().size(), 1u);
  const Plan<float> plan(tmpl, kPlan);
  // A plan is used by the version that made it. Others make a plan again and say so.
  const std::string folder = GetParam().filename().string();
  if (std::string(version()) == folder + ".0") {
    EXPECT_TRUE(plan.info().kept) << plan.info().kept_note;
  } else if (!plan.info().kept) {
    EXPECT_NE(plan.info().kept_note, "");
  }
  EXPECT_EQ(plan.info().path, Path::comb);
  const auto frame = image(false);  // exactly sparse: no aliases
  EXPECT_LE(test::relative_l2(plan.execute(SignalView(frame, kImage)).values, values_of_image()), 1e-5);
}

TEST_P(ReleasedFiles, Wisdom) {
  const std::string file = (GetParam() / "wisdom.json").string();
  const dense::WisdomReport report = dense::load_wisdom(file);
  EXPECT_EQ(report.taken, 3) << report.reason;
  EXPECT_EQ(report.ignored, 0) << report.reason;
  const std::string copy =
      (fs::temp_directory_path() / ("sfft-wisdom-" + std::to_string(::getpid()))).string();
  dense::save_wisdom(copy);
  std::ifstream saved(copy);
  const std::string text{std::istreambuf_iterator<char>(saved), {}};
  for (const char* part : {"f64 r2c 1080x1920", "9800.5", "vkfft", "61.5", "prefetch_distance=25", "128.7"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  fs::remove(copy);
}

INSTANTIATE_TEST_SUITE_P(Versions, ReleasedFiles, testing::ValuesIn(released()), [](const auto& folder) {
  std::string name = folder.param.filename().string();
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

}  // namespace
}  // namespace sfft::released_files_test
