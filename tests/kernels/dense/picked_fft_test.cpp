// SPDX-License-Identifier: Apache-2.0
// Tests the transform of a 2D frame at a few of its columns against direct sums in double, alone and as the
// dense path of a plan.
#include "kernels/dense/cpu/picked_fft.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "sfft/sfft.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::detail::picked_fft_test {
namespace {

using Values = std::vector<std::complex<double>>;

/// Samples of one type, and the direct transform of all of them.
template <class Sample>
struct Frame {
  Frame(const Shape& shape, unsigned seed)
      : shape_(shape), samples(static_cast<std::size_t>(shape.points())) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> value(3, std::is_same_v<Sample, std::uint16_t> ? 60000 : 250);
    for (Sample& sample : samples) sample = static_cast<Sample>(value(random));
    const std::int64_t grid[] = {shape[0], shape[1]};
    exact = test::direct_dft({samples.begin(), samples.end()}, grid);
  }
  SignalView view() const { return {samples, shape_}; }

  Shape shape_;
  std::vector<Sample> samples;
  Values exact;
};

template <class Real, class Sample>
void expect_direct_sum(const Shape& shape, const std::vector<std::int64_t>& elements) {
  const Frame<Sample> frame(shape, static_cast<unsigned>(shape.points()));
  const PickedFft<Real> fft(shape, true, elements);
  std::vector<std::byte> memory(fft.scratch_bytes() + 64);
  void* start = memory.data();
  std::size_t room = memory.size();
  auto* const scratch = static_cast<std::byte*>(std::align(64, 1, start, room));
  std::vector<std::complex<Real>> values(elements.size());
  fft.forward(frame.samples.data(), element_type_of<Sample>::value, values, scratch);
  const std::int64_t stored = shape[1] / 2 + 1;
  // Rounding errors are relative to the whole spectrum, of which these are a few columns.
  double norm = 0, error = 0;
  for (const auto& value : frame.exact) norm += std::norm(value);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto at = static_cast<std::size_t>(elements[i] / stored * shape[1] + elements[i] % stored);
    error += std::norm(std::complex<double>(values[i]) - frame.exact[at]);
  }
  EXPECT_LE(std::sqrt(error / norm), test::fft_bound<Real>(static_cast<double>(shape.points())))
      << shape.to_string();
}

TEST(PickedFft, EqualsTheDirectSum) {
  for (const Shape& shape : {Shape{2, 80}, Shape{9, 64}, Shape{31, 101}, Shape{32, 144}, Shape{64, 67}}) {
    const std::int64_t stored = shape[1] / 2 + 1;
    const std::vector<std::int64_t> elements{0, stored - 1, 3 + stored, 3, shape[0] * stored - 1, 3};
    expect_direct_sum<float, std::uint8_t>(shape, elements);
    expect_direct_sum<float, std::uint16_t>(shape, elements);
    expect_direct_sum<double, double>(shape, elements);
  }
}

TEST(PickedFft, IsForFewColumnsOfPictures) {
  const std::vector<std::int64_t> few{0, 1, 2};
  EXPECT_TRUE(PickedFft<float>::worthwhile({64, 256}, true, few));
  EXPECT_FALSE(PickedFft<float>::worthwhile({64, 20}, true, few)) << "16 of 11 columns";
  EXPECT_FALSE(PickedFft<float>::worthwhile(Shape{16384}, true, few));
  EXPECT_FALSE(PickedFft<float>::worthwhile({1, 16384}, true, few));
  EXPECT_FALSE(PickedFft<float>::worthwhile({8, 8, 256}, true, few));
  std::vector<std::int64_t> many;
  for (std::int64_t c = 0; c < 120; ++c) many.push_back(c);
  EXPECT_FALSE(PickedFft<float>::worthwhile({64, 256}, true, many));
}

/// The index of the conjugate coefficient of a real 2D frame.
std::int64_t mirrored(const Shape& shape, std::int64_t flat) {
  const std::int64_t row = flat / shape[1], column = flat % shape[1];
  return (shape[0] - row) % shape[0] * shape[1] + (shape[1] - column) % shape[1];
}

/// Tests the tail of a dense plan. The path that picks columns computes it as a small difference of large
/// numbers.
template <class Real, class Sample>
void expect_tail(const Shape& shape, const std::vector<std::int64_t>& support) {
  const Frame<Sample> frame(shape, 5);
  double tail = 0;
  for (std::int64_t f = 0; f < shape.points(); ++f) {
    const bool held = std::ranges::find(support, f) != support.end() ||
                      std::ranges::find(support, mirrored(shape, f)) != support.end();
    if (!held) tail += std::norm(frame.exact[static_cast<std::size_t>(f)]);
  }
  const Plan<Real> plan(Template::from_support(shape, Domain::real, support),
                        {.device = Device::cpu(), .path = Path::dense});
  const Spectrum<Real> spectrum = plan.execute(frame.view());
  EXPECT_NEAR(spectrum.quality.tail_energy, tail, 1e-3 * tail);
  Values truth;
  for (const std::int64_t f : *spectrum.support) truth.push_back(frame.exact[static_cast<std::size_t>(f)]);
  // Amplitudes are alike except at f = 0, which is a hundred times larger.
  EXPECT_LE(test::relative_l2(spectrum.values, truth),
            1000 * test::fft_bound<Real>(static_cast<double>(shape.points())));
}

TEST(PickedFft, GivesADensePlanItsTail) {
  const Shape shape{24, 96};
  for (const std::vector<std::int64_t>& support :
       {std::vector<std::int64_t>{0, 1, 97, 192 + 95}, {3, 96 + 5, 4 * 96 + 92}}) {
    expect_tail<float, std::uint8_t>(shape, support);
    expect_tail<float, std::uint16_t>(shape, support);
    expect_tail<float, float>(shape, support);
    expect_tail<double, std::uint8_t>(shape, support);
    expect_tail<double, double>(shape, support);
  }
}

TEST(PickedFft, LeavesSmallTailsToTheWholeSpectrum) {
  // The signal has no energy outside the support, so the reported tail must be rounding. A difference of
  // energies cannot resolve it.
  const Shape shape{24, 96};
  std::vector<float> samples;
  for (std::int64_t t = 0; t < shape.points(); ++t)
    samples.push_back(
        static_cast<float>(100 + 50 * std::cos(2 * std::numbers::pi * static_cast<double>(t % 96) / 96)));
  const Plan<float> plan(Template::from_support(shape, Domain::real, std::vector<std::int64_t>{0, 1}),
                         {.device = Device::cpu(), .path = Path::dense});
  const Spectrum<float> spectrum = plan.execute(SignalView(samples, shape));
  EXPECT_LE(spectrum.quality.residual, 1e-5);
  std::vector<std::uint8_t> constant(samples.size(), 77);
  EXPECT_EQ(plan.execute(SignalView(constant, shape)).quality.tail_energy, 0);
  samples[1000] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(plan.execute(SignalView(samples, shape)).quality.finite);
}

}  // namespace
}  // namespace sfft::detail::picked_fft_test
