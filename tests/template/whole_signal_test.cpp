// SPDX-License-Identifier: Apache-2.0
// Sums over the whole signal against direct sums: its energy, its transform between the frequencies of the
// grid, and what a frequency of the grid contributes there.
#include "template/discovery/whole_signal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "template/discovery/sample_reader.hpp"

namespace sfft::detail {
namespace {

using Complex = std::complex<double>;

/// Calls with every position of the shape.
template <class Use>
void for_each_position(const Shape& shape, const Use& use) {
  for (std::int64_t flat = 0; flat < shape.points(); ++flat) {
    GridPoint t{0, 0, 0};
    std::int64_t rest = flat;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      t[static_cast<std::size_t>(d)] = rest % shape[d];
      rest /= shape[d];
    }
    use(flat, t);
  }
}

Complex at(const OffGridWave& wave, const GridPoint& t) {
  Complex product = 1;
  for (int d = 0; d < wave.shape().rank(); ++d) product *= wave.along(d, t[static_cast<std::size_t>(d)]);
  return product;
}

const Shape kShapes[] = {Shape{1},      Shape{7},     Shape{1000},    Shape{513},      Shape{3, 300},
                         Shape{300, 3}, Shape{1, 64}, Shape{4, 5, 6}, Shape{2, 1, 259}};

TEST(WholeSignal, TheWaveTurnsEvenlyAndLiesBetweenFrequencies) {
  BlindRandom random(5);
  for (const Shape& shape : kShapes) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      const OffGridWave wave(shape, true, random);
      for (int d = 0; d < shape.rank(); ++d) {
        const auto extent = static_cast<double>(shape[d]);
        // Half a circle at most: the argument of a step names the frequency but for a whole turn.
        if (shape[d] < 2) continue;
        const double g = -std::arg(wave.along(d, 1)) / (2 * std::numbers::pi) * extent;
        EXPECT_GE(std::fabs(g - std::round(g)), 0.25 - 1e-9) << shape.to_string();
        for (std::int64_t t = 0; t < shape[d]; ++t) {
          const Complex expected =
              std::polar(1.0, -2 * std::numbers::pi * g * static_cast<double>(t) / extent);
          ASSERT_LE(std::abs(wave.along(d, t) - expected), 1e-12 * extent) << shape.to_string() << " " << t;
        }
      }
    }
  }
}

TEST(WholeSignal, OverlapIsTheSumOverAllSamples) {
  BlindRandom random(6);
  for (const Shape& shape : kShapes) {
    const OffGridWave wave(shape, true, random);
    for (int repeat = 0; repeat < 20; ++repeat) {
      GridPoint f{0, 0, 0};
      for (int d = 0; d < shape.rank(); ++d)
        f[static_cast<std::size_t>(d)] =
            static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape[d]));
      Complex sum = 0;
      for_each_position(shape, [&](std::int64_t, const GridPoint& t) {
        double turns = 0;
        for (int d = 0; d < shape.rank(); ++d) {
          const auto i = static_cast<std::size_t>(d);
          turns += static_cast<double>(f[i] * t[i] % shape[d]) / static_cast<double>(shape[d]);
        }
        sum += std::polar(1.0, 2 * std::numbers::pi * turns) * at(wave, t);
      });
      EXPECT_LE(std::abs(sum / static_cast<double>(shape.points()) - wave.overlap(f)), 1e-13)
          << shape.to_string();
    }
  }
}

template <class T>
void expect_sums(const Shape& shape, ElementType type, const std::vector<T>& x, double tolerance) {
  BlindRandom random(7);
  const OffGridWave wave(shape, !is_complex(type), random);
  HostSamples samples(x.data(), type, shape.points());
  const auto whole = samples.whole(0.5, wave);
  ASSERT_TRUE(whole.has_value());
  Complex sum = 0;
  double energy = 0;
  for_each_position(shape, [&](std::int64_t flat, const GridPoint& t) {
    const Complex value = 0.5 * Complex(x[static_cast<std::size_t>(flat)]);
    sum += value * at(wave, t);
    energy += std::norm(value);
  });
  EXPECT_NEAR(whole->energy, energy, tolerance * energy) << shape.to_string();
  EXPECT_LE(std::abs(whole->wave - sum), tolerance * energy) << shape.to_string();
}

TEST(WholeSignal, SumsOfEveryTypeAreThoseOfDirectSums) {
  std::mt19937 generator(8);
  for (const Shape& shape : kShapes) {
    const auto points = static_cast<std::size_t>(shape.points());
    std::vector<Complex> c128;
    std::vector<std::complex<float>> c64;
    std::vector<double> f64;
    std::vector<float> f32;
    std::vector<std::uint16_t> u16;
    std::vector<std::uint8_t> u8;
    for (std::size_t i = 0; i < points; ++i) {
      const auto one = static_cast<float>(generator() % 4096), other = static_cast<float>(generator() % 4096);
      c64.emplace_back(one, other);
      c128.emplace_back(one, other);
      f32.push_back(one);
      f64.push_back(other);
      u16.push_back(static_cast<std::uint16_t>(one));
      u8.push_back(static_cast<std::uint8_t>(generator() % 256));
    }
    expect_sums(shape, ElementType::c128, c128, 1e-12);
    expect_sums(shape, ElementType::c64, c64, 1e-12);
    expect_sums(shape, ElementType::f64, f64, 1e-12);
    expect_sums(shape, ElementType::f32, f32, 1e-12);
    expect_sums(shape, ElementType::u16, u16, 1e-12);
    expect_sums(shape, ElementType::u8, u8, 1e-12);
  }
}

TEST(WholeSignal, ARegionIsReadAsItsCopy) {
  std::mt19937 generator(9);
  std::vector<float> plane(40 * 50);
  for (float& value : plane) value = static_cast<float>(generator() % 1000);
  const std::int64_t strides[] = {50, 1};
  const SignalView part(plane.data() + 3 * 50 + 5, ElementType::f32, Shape{20, 30}, strides);
  std::vector<float> copy;
  for (std::size_t i = 0; i < 20; ++i) {
    for (std::size_t j = 0; j < 30; ++j) copy.push_back(plane[(i + 3) * 50 + j + 5]);
  }
  BlindRandom random(10);
  const OffGridWave wave(Shape{20, 30}, true, random);
  HostSamples of_part(part, ElementType::f32, 600);
  HostSamples of_copy(copy.data(), ElementType::f32, 600);
  EXPECT_EQ(of_part.whole(1, wave)->energy, of_copy.whole(1, wave)->energy);
  EXPECT_EQ(of_part.whole(1, wave)->wave, of_copy.whole(1, wave)->wave);
  EXPECT_FALSE(HostSamples(part, ElementType::f32).whole(1, wave).has_value());
}

}  // namespace
}  // namespace sfft::detail
