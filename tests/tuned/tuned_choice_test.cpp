// SPDX-License-Identifier: Apache-2.0
// What the tuner chooses from and how wisdom files keep it; constants of the kernels.
#include <gtest/gtest.h>

#include "kernels/dense/tuned/tables.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tuned_problem.hpp"

namespace sfft::test {
namespace {

using detail::DenseProblem;
using detail::tuned::Choice;
using detail::tuned::Convolution;
using detail::tuned::Kernel;
using detail::tuned::Limits;
using detail::tuned::LineChoice;
using detail::tuned::LineNeed;
using detail::tuned::Method;
using detail::tuned::Step;
using detail::tuned::Table;

bool same(const Choice& a, const Choice& b) {
  return a.at_once == b.at_once && a.streams == b.streams && a.min_blocks == b.min_blocks &&
         a.ring == b.ring && a.split == b.split && a.chunk == b.chunk && a.lines == b.lines;
}

TEST(TunedChoice, TextRoundTrip) {
  const std::string documented =
      "once 2 streams 3 ring 0 blocks 1 chunk 16 split - | 12.9.10 t108 l8 m s q b n | 10.8.12 t96 l9 e16 p1 "
      "r4 d25 v7000 g350 c x f o";
  ASSERT_TRUE(detail::tuned::parse_choice(documented));
  EXPECT_EQ(to_text(*detail::tuned::parse_choice(documented)), documented);
  int flags = 0;
  for (const int points : {5, 64, 127, 509, 1080, 4096}) {
    Choice choice;
    choice.at_once = points;
    choice.streams = 1 + points % 4;
    choice.min_blocks = 1 + points % 32;
    choice.chunk = 8;
    choice.ring = points % 3 > 0;
    if (points % 2 == 0) choice.split = {points, 3 * points};
    for (LineChoice line : candidates({.points = points, .by_line = true}, true, kHopper, 3)) {
      ++flags;
      line.twiddles = static_cast<detail::tuned::Twiddles>(flags % 3);
      line.staged = flags % 2 == 0;
      line.split = flags % 5 == 0;
      line.pad = flags % 7;
      line.ahead = flags % 4 == 0;
      line.early = flags % 3 == 1;
      line.across = flags % 4 == 2;
      line.resident = flags % 33;
      line.distance = flags % 4 * 12;
      line.spread = flags % 3 * 500;
      line.stagger = flags % 5 * 100;
      line.caching = {static_cast<detail::tuned::Loads>(flags / 2 % 3), flags % 3 == 0};
      choice.lines.push_back(line);
    }
    const auto back = detail::tuned::parse_choice(to_text(choice));
    ASSERT_TRUE(back) << to_text(choice);
    EXPECT_TRUE(same(*back, choice)) << to_text(choice);
  }
}

TEST(TunedChoice, TextsWithAChoiceForBytes) {
  const DenseProblem image = dense_problem(Shape({12, 16}), true);
  detail::tuned::Choices choices{rule_choice(image, true), std::nullopt};
  const auto back = [&] { return detail::tuned::parse_choices(to_text(choices)); };
  ASSERT_TRUE(back());
  EXPECT_TRUE(same(back()->own, choices.own) && !back()->bytes);
  choices.bytes = choices.own;
  choices.bytes->min_blocks = 3;
  ASSERT_TRUE(back() && back()->bytes);
  EXPECT_TRUE(same(back()->own, choices.own) && same(*back()->bytes, *choices.bytes));
  const std::string text = to_text(choices);
  EXPECT_FALSE(detail::tuned::parse_choices(text + " bytes"));
  EXPECT_FALSE(detail::tuned::parse_choices(text + " bytes " + to_text(choices.own)));
  EXPECT_FALSE(detail::tuned::parse_choices(" bytes " + to_text(choices.own)));
  EXPECT_FALSE(detail::tuned::parse_choice(text));
}

/// Neither a throw nor a wrong transform, whatever a wisdom file says.
void expect_harmless(const DenseProblem& problem, const TunedSignals& signals, const std::string& text) {
  const auto choice = detail::tuned::parse_choice(text);
  if (!choice) return;
  for (const bool inverse : {false, true}) {
    try {
      const TunedRun run{problem, *choice, true, inverse};
      EXPECT_EQ(trouble_of(run, signals), "") << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << text << ": " << error.what();
    }
  }
}

TEST(TunedChoice, DamagedTextIsHarmless) {
  const DenseProblem line = dense_problem(Shape(64), false, 2),
                     image = dense_problem(Shape({4, 12}), true, 2),
                     volume = dense_problem(Shape({2, 3, 4}), false),
                     beside = dense_problem(Shape(12), false, 3, {{3, 0, 0}, 1});
  const auto turning = [](Choice choice) {
    choice.at_once = 1;
    choice.streams = 2;
    return choice;
  };
  Choice three = turning(rule_choice(line, true, {4, 2, 8}));
  three.chunk = 2;
  const std::vector<std::pair<DenseProblem, Choice>> cases{{line, turning(rule_choice(line, true, {16, 4}))},
                                                           {line, three},
                                                           {image, turning(rule_choice(image, true))},
                                                           {volume, turning(rule_choice(volume, true))},
                                                           {beside, rule_choice(beside, true)}};
  for (const auto& [problem, choice] : cases) {
    const TunedSignals signals(problem);
    const std::string text = to_text(choice);
    ASSERT_EQ(trouble_of({problem, *detail::tuned::parse_choice(text)}, signals), "") << text;
    for (std::size_t at = 0; at <= text.size(); ++at) {
      expect_harmless(problem, signals, text.substr(0, at));
      for (const char c : std::string("0123459 .|-elmpstcwxz+\n\t\0\xff", 26)) {
        std::string damaged = text;
        damaged.insert(at, 1, c);
        expect_harmless(problem, signals, damaged);
        if (at == text.size()) continue;
        damaged.erase(at + 1, 1);
        expect_harmless(problem, signals, damaged);
      }
    }
  }
}

TEST(TunedChoice, TextsOfOtherProblemsAreRefused) {
  const DenseProblem line = dense_problem(Shape(256), false), real = dense_problem(Shape(256), true),
                     image = dense_problem(Shape({16, 16}), false),
                     apart = dense_problem(Shape(256), false, 1, {{2, 0, 0}, 512}),
                     pitched = dense_problem(Shape({4, 4, 4}), false, 1, {{32, 8, 1}, 128});
  const Choice split = rule_choice(line, true, {16, 16});
  for (const DenseProblem& problem : {real, image, apart, dense_problem(Shape(512), false)})
    EXPECT_EQ(code_of([&] { lay_out({problem}, split); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] {
              lay_out({pitched}, rule_choice(dense_problem(Shape({4, 4, 4}), false), true));
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { lay_out({image}, Choice{}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { lay_out({line}, rule_choice(image, true)); }), ErrorCode::invalid_argument);
}

void expect_possible(const LineNeed& need, bool single, const Limits& limits, bool some) {
  const std::vector<int> lengths = detail::tuned::fft_lengths(need.points, need.turned);
  Step step;
  step.points = need.points;
  step.load_by_line = need.by_line || need.exchanged;
  step.store_by_line = need.by_line && !need.exchanged;
  if (need.half) step.out.form = detail::tuned::Form::half_pairs;
  const auto all = candidates(need, single, limits, 48);
  EXPECT_TRUE(!some || !all.empty()) << need.points << (single ? " floats" : " doubles");
  for (const LineChoice& line : all) {
    step.line = line;
    const Kernel kernel{step};
    const int usual = need.extent > 0 ? 48 : 32;
    const int registers =
        std::max(single ? usual : usual / 2, *std::max_element(line.radices.begin(), line.radices.end()));
    EXPECT_NE(std::find(lengths.begin(), lengths.end(), line.length()), lengths.end());
    EXPECT_LE(line.threads * line.lines, 1024);
    EXPECT_LE(kernel.threads(), 1024);
    EXPECT_LE(line.registers(), 2 * registers - 1);
    EXPECT_LE(kernel.shared_bytes(single), limits.shared_bytes) << need.points;
    EXPECT_TRUE(!need.paired || line.lines % 2 == 0);
    EXPECT_TRUE(!need.exchanged || line.radices.size() > 1);
    EXPECT_TRUE(need.extent == 0 ||
                (line.radices_of_columns(need.extent) > 0 && line.length() == need.points));
    EXPECT_TRUE(need.extent == 0 || need.lines % line.lines == 0);
    Choice choice;
    choice.lines = {line};
    EXPECT_TRUE(detail::tuned::parse_choice(to_text(choice))) << to_text(choice);
  }
}

TEST(TunedChoice, EveryLengthHasCandidates) {
  for (int n = 2; n <= 4096; n += n < 300 ? 1 : 37) {
    for (const bool single : {true, false}) {
      expect_possible({.points = n}, single, kHopper, true);
      expect_possible({.points = n, .by_line = true}, single, kHopper, true);
      expect_possible({.points = n, .by_line = true}, single, kTuring, n <= 2000);
    }
  }
  for (const int n : {4095, 4096, 8192, 16384}) {
    for (const bool single : {true, false}) expect_possible({.points = n}, single, kHopper, true);
    expect_possible({.points = n}, n > 8192, kTuring, true);
  }
}

TEST(TunedChoice, CandidatesKeepWhatTheKernelsRelyOn) {
  for (const int n : {2, 3, 16, 17, 30, 127, 509, 540, 960, 1000, 2048, 4096, 8192}) {
    for (const bool single : {true, false}) {
      for (const Limits& limits : {kHopper, kTuring}) {
        expect_possible({.points = n, .half = true}, single, limits, false);
        expect_possible({.points = n, .half = true, .paired = true}, single, limits, n <= 1000);
        expect_possible({.points = n, .by_line = true, .turned = true, .lines = 16}, single, limits,
                        n <= 1000);
        expect_possible({.points = n, .by_line = true, .exchanged = true, .turned = true}, single, limits,
                        false);
        expect_possible({.points = n, .exchanged = true, .lines = 16}, single, limits, false);
        if (n % 30 != 0) continue;
        expect_possible({.points = n, .turned = true, .extent = n / 15}, single, limits, true);
        expect_possible({.points = n, .by_line = true, .extent = 10, .lines = 24}, single, limits, true);
      }
    }
  }
}

double distance(const std::complex<double>& a, std::int64_t j, std::int64_t n) {
  const long double angle =
      -2 * std::numbers::pi_v<long double> * static_cast<long double>(j) / static_cast<long double>(n);
  return static_cast<double>(
      std::hypot(static_cast<long double>(a.real()) - std::cos(angle), a.imag() - std::sin(angle)));
}

TEST(TunedTables, RootsAreExactAndSymmetric) {
  double worst = 0;
  for (const std::int64_t n : {2, 3, 7, 16, 1000, 4099, 65536, 1 << 24, 48828125}) {
    const std::int64_t count = std::min<std::int64_t>(n, 5000), step = n / count;
    for (const std::int64_t by : {std::int64_t{1}, step}) {
      const Table table = detail::tuned::roots(n, count, by);
      ASSERT_EQ(table.size(), static_cast<std::size_t>(count));
      for (std::int64_t j = 0; j < count; ++j)
        worst = std::max(worst, distance(table[static_cast<std::size_t>(j)], j * by % n, n));
    }
  }
  EXPECT_LE(worst, 2e-16);
  const Table around = detail::tuned::roots(1001, 1001);
  for (std::size_t j = 1; j < around.size(); ++j) EXPECT_EQ(around[j], std::conj(around[1001 - j]));
}

using Values = std::vector<std::complex<double>>;

/// What the passes of a kernel compute (line_fft.cuh), by definition: a DFT or, without twiddle factors, one
/// of as many dimensions as there are radices, whose first coordinate is the slowest of the inputs and the
/// fastest of the outputs.
Values passes(const Values& x, const Step& step, const std::vector<int>& radices) {
  const auto n = static_cast<std::int64_t>(x.size());
  if (!step.twiddle_free()) return direct_dft_axis(x, 1, n, 1);
  Values grid = x;
  for (std::int64_t before = 1; const int radix : radices) {
    grid = direct_dft_axis(grid, before, radix, n / before / radix);
    before *= radix;
  }
  Values y(x.size());
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t to = 0, after = n, before = 1;
    for (const int radix : radices) {
      after /= radix;
      to += before * (i / after % radix);
      before *= radix;
    }
    y[static_cast<std::size_t>(to)] = grid[static_cast<std::size_t>(i)];
  }
  return y;
}

/// The DFT as the device code makes it of a convolution (tile_fft.cuh), by definition.
Values convolved(const Step& step, const Values& x) {
  const Convolution c = detail::tuned::convolution(step);
  const auto n = static_cast<std::size_t>(step.points), length = static_cast<std::size_t>(step.line.length());
  const bool rader = step.method == Method::rader;
  const std::vector<int> there = step.line.radices, back(there.rbegin(), there.rend());
  Values a(length), y(n);
  for (std::size_t q = 0; q < length && (rader || q < n); ++q)
    a[q] = rader ? x[static_cast<std::size_t>(c.gather[q])] : x[q] * c.chirp[q];
  a = passes(a, step, there);
  if (rader) y[0] = x[0] + a[0];
  for (std::size_t q = 0; q < length; ++q) a[q] = std::conj(a[q] * c.kernel[q]);
  a = passes(a, step, back);
  for (std::size_t q = 0; q < length && (rader || q < n); ++q) {
    rader ? y[static_cast<std::size_t>(c.scatter[q])] = x[0] + std::conj(a[q])
          : y[q] = std::conj(a[q]) * c.chirp[q];
  }
  return y;
}

void expect_transform(int n, const std::vector<int>& radices, bool twiddle_free) {
  const Values x = random_signal(static_cast<std::size_t>(n), 3);
  Step step;
  step.points = n;
  step.line.radices = radices;
  step.method = detail::tuned::method_of(n, step.line.length(), false).value();
  EXPECT_EQ(step.twiddle_free(), twiddle_free) << n;
  EXPECT_LE(relative_l2(convolved(step, x), direct_dft_axis(x, 1, n, 1)), 8 * fft_bound<double>(n))
      << n << " by " << fmt::format("{}", fmt::join(radices, "."));
}

TEST(TunedTables, ConvolutionsAreTransforms) {
  for (const int n : {5, 7, 17, 19, 23, 127, 251, 509}) {
    expect_transform(n, {n - 1}, true);
    for (const int length : {2 * n - 1, 2 * n + 5}) expect_transform(n, {length}, false);
  }
  for (const auto& radices : {std::vector{18, 7}, {7, 18}, {2, 7, 9}, {9, 2, 7}})
    expect_transform(127, radices, true);
  for (const auto& radices : {std::vector{4, 15, 17}, {17, 12, 5}, {4, 3, 5, 17}})
    expect_transform(1021, radices, true);
  for (const auto& radices : {std::vector{10, 25}, {5, 5, 10}}) expect_transform(251, radices, false);
}

TEST(TunedTables, LengthsOfConvolutions) {
  for (int n = 2; n <= 2000; ++n) {
    for (const bool turned : {false, true}) {
      const std::vector<int> lengths = detail::tuned::fft_lengths(n, turned);
      ASSERT_FALSE(lengths.empty()) << n;
      for (const int length : lengths) {
        const auto method = detail::tuned::method_of(n, length, turned);
        ASSERT_TRUE(method) << n << " by " << length;
        EXPECT_TRUE(!turned || *method != Method::rader) << "no turns are made of Rader's outputs";
      }
    }
  }
  for (const auto& [n, length] : {std::pair{10, 9}, {12, 22}, {7, 12}, {13, 14}})
    EXPECT_EQ(detail::tuned::method_of(n, length, false), std::nullopt) << n << " by " << length;
}

}  // namespace
}  // namespace sfft::test
