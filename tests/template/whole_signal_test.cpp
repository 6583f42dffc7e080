// SPDX-License-Identifier: Apache-2.0
// Compares the fold of a whole signal with direct sums: its energy, its cells, and the contributions of
// components.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "kernels/cpu/stages/waves.hpp"
#include "template/discovery/round.hpp"
#include "template/discovery/sample_reader.hpp"

namespace sfft::detail::whole_signal_test {
namespace {

using Complex = std::complex<double>;

/// Calls `use` with every position of the shape.
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

const Shape kShapes[] = {Shape{1},       Shape{7},         Shape{33},        Shape{1000},
                         Shape{1024},    Shape{513},       Shape{20000},     Shape{3, 300},
                         Shape{300, 3},  Shape{1, 64},     Shape{40, 32},    Shape{37, 96},
                         Shape{4, 5, 6}, Shape{3, 17, 40}, Shape{2, 1, 259}, Shape{70, 2, 1}};

/// The cell that a sample belongs to, and its phase, by the definition: pieces are numbered in row-major
/// order.
struct Place {
  std::size_t cell;
  Complex phase;
};
Place place_of(const RandomFold& fold, std::int64_t flat) {
  const std::int64_t row = fold.shape()[fold.shape().rank() - 1], columns = fold.columns();
  const std::int64_t piece = flat / row * ((row + columns - 1) / columns) + flat % row / columns;
  const std::int64_t cell = piece % fold.sets() * cpu::kWaveOffsets + flat % row % columns;
  Complex phase;
  fold.phases(piece, 1, &phase);
  return {static_cast<std::size_t>(cell), phase};
}

TEST(WholeSignal, PhasesOfPiecesTurnFreelyAndKeepTheSize) {
  DiscoveryRandom random(5);
  for (const Shape& shape : kShapes) {
    Complex mean = 0;
    constexpr int kDraws = 400;
    for (int draw = 0; draw < kDraws; ++draw) {
      const RandomFold fold(shape, random);
      const Place first = place_of(fold, 0), last = place_of(fold, shape.points() - 1);
      EXPECT_NEAR(std::abs(first.phase), 1, 1e-14);
      EXPECT_NEAR(std::abs(last.phase), 1, 1e-14);
      mean += shape.points() > fold.columns() ? first.phase * std::conj(last.phase) : first.phase;
    }
    EXPECT_LE(std::abs(mean) / kDraws, 5 / std::sqrt(kDraws)) << shape.to_string();
  }
}

TEST(WholeSignal, CellsOfComponentsAreSumsOverAllSamples) {
  DiscoveryRandom random(6);
  for (const Shape& shape : kShapes) {
    const RandomFold fold(shape, random);
    std::vector<DiscoveryComponent> components;
    double size = 0;
    for (int i = 0; i < 70; ++i) {
      GridPoint f{0, 0, 0};
      for (int d = 0; d < shape.rank(); ++d)
        f[static_cast<std::size_t>(d)] =
            static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape[d]));
      components.push_back({f, std::polar(1.0 + i, 0.7 * i), 0});
      size += 1.0 + i;
    }
    std::vector<Complex> cells(static_cast<std::size_t>(fold.sets() * cpu::kWaveOffsets));
    for_each_position(shape, [&](std::int64_t flat, const GridPoint& t) {
      Complex x = 0;
      for (const DiscoveryComponent& component : components) {
        double turns = 0;
        for (int d = 0; d < shape.rank(); ++d) {
          const auto i = static_cast<std::size_t>(d);
          turns += static_cast<double>(component.f[i] * t[i] % shape[d]) / static_cast<double>(shape[d]);
        }
        x += component.value * std::polar(1.0, 2 * std::numbers::pi * turns);
      }
      const Place place = place_of(fold, flat);
      cells[place.cell] += place.phase * x / static_cast<double>(shape.points());
    });
    const std::vector<Complex> predicted = fold.cells(components);
    ASSERT_EQ(predicted.size(), cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i)
      ASSERT_LE(std::abs(predicted[i] - cells[i]), 1e-13 * size) << shape.to_string() << " cell " << i;
  }
}

template <class T>
void expect_sums(const Shape& shape, ElementType type, const std::vector<T>& x, double tolerance) {
  DiscoveryRandom random(7);
  const RandomFold fold(shape, random);
  HostSamples samples(x.data(), type, shape.points());
  const auto whole = samples.whole(0.5, fold);
  ASSERT_TRUE(whole.has_value());
  std::vector<Complex> cells(whole->re.size());
  double energy = 0;
  for_each_position(shape, [&](std::int64_t flat, const GridPoint&) {
    const Complex value = 0.5 * Complex(x[static_cast<std::size_t>(flat)]);
    const Place place = place_of(fold, flat);
    cells[place.cell] += place.phase * value;
    energy += std::norm(value);
  });
  EXPECT_NEAR(whole->energy, energy, tolerance * energy) << shape.to_string();
  for (std::size_t i = 0; i < cells.size(); ++i)
    ASSERT_LE(std::abs(Complex(whole->re[i], whole->im[i]) - cells[i]), tolerance * std::sqrt(energy))
        << shape.to_string() << " cell " << i;
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
    // A kernel's call adds up at most 16 samples per cell in the precision of the type.
    const double single = 4 * std::numeric_limits<float>::epsilon();
    expect_sums(shape, ElementType::c128, c128, 1e-13);
    expect_sums(shape, ElementType::c64, c64, single);
    expect_sums(shape, ElementType::f64, f64, 1e-13);
    expect_sums(shape, ElementType::f32, f32, single);
    expect_sums(shape, ElementType::u16, u16, single);
    expect_sums(shape, ElementType::u8, u8, single);
  }
}

TEST(WholeSignal, ARegionIsReadAsItsCopy) {
  std::mt19937 generator(9);
  std::vector<float> plane(60 * 80);
  for (float& value : plane) value = static_cast<float>(generator() % 1000);
  for (const std::int64_t columns : {30, 64}) {
    const std::int64_t strides[] = {80, 1};
    const Shape shape{20, columns};
    const SignalView part(plane.data() + 3 * 80 + 5, ElementType::f32, shape, strides);
    std::vector<float> copy;
    for (std::size_t i = 0; i < 20; ++i) {
      for (std::size_t j = 0; j < static_cast<std::size_t>(columns); ++j)
        copy.push_back(plane[(i + 3) * 80 + j + 5]);
    }
    DiscoveryRandom random(10);
    const RandomFold fold(shape, random);
    HostSamples of_part(part, ElementType::f32, shape.points());
    HostSamples of_copy(copy.data(), ElementType::f32, shape.points());
    const auto of_region = of_part.whole(1, fold), of_all = of_copy.whole(1, fold);
    EXPECT_NEAR(of_region->energy, of_all->energy, 1e-6 * of_all->energy);
    for (std::size_t i = 0; i < of_all->re.size(); ++i) {
      EXPECT_NEAR(of_region->re[i], of_all->re[i], 1e-6 * std::sqrt(of_all->energy));
      EXPECT_NEAR(of_region->im[i], of_all->im[i], 1e-6 * std::sqrt(of_all->energy));
    }
    EXPECT_FALSE(HostSamples(part, ElementType::f32).whole(1, fold).has_value());
  }
}

/// Mean and spread of the folded power of a residual, over draws of the phases.
struct Spread {
  double mean = 0, deviation = 0;
};
template <class T>
Spread folded_power(const Shape& shape, ElementType type, const std::vector<T>& x, int draws) {
  DiscoveryRandom random(11);
  double sum = 0, squares = 0;
  HostSamples samples(x.data(), type, shape.points());
  for (int draw = 0; draw < draws; ++draw) {
    const RandomFold fold(shape, random);
    const auto whole = samples.whole(1, fold);
    double power = 0;
    for (std::size_t i = 0; i < whole->re.size(); ++i)
      power += whole->re[i] * whole->re[i] + whole->im[i] * whole->im[i];
    power /= whole->energy;
    sum += power;
    squares += power * power;
  }
  const double mean = sum / draws;
  return {mean, std::sqrt(std::max(0.0, squares / draws - mean * mean))};
}

TEST(WholeSignal, TheFoldedPowerIsTheEnergyWhateverTheResidualIs) {
  std::mt19937 generator(12);
  std::normal_distribution<double> normal;
  for (const Shape& shape : {Shape{4096}, Shape{10007}, Shape{64, 80}, Shape{300, 3}, Shape{15, 21, 25}}) {
    const auto points = static_cast<std::size_t>(shape.points());
    std::vector<double> noise(points), one(points), burst(points);
    std::vector<Complex> complex_noise(points);
    for (std::size_t i = 0; i < points; ++i) {
      noise[i] = normal(generator);
      complex_noise[i] = {normal(generator), normal(generator)};
    }
    one[points / 3] = 2;
    for (std::size_t i = 0; i < 64; ++i) burst[points / 2 + i] = std::cos(0.3 * static_cast<double>(i));
    DiscoveryRandom random(13);
    const RandomFold fold(shape, random);
    constexpr int kDraws = 400;
    const Spread of_noise = folded_power(shape, ElementType::f64, noise, kDraws);
    const Spread of_complex = folded_power(shape, ElementType::c128, complex_noise, kDraws);
    for (const auto& [spread, chance] :
         {std::pair{of_noise, fold.chance(true)}, std::pair{of_complex, fold.chance(false)}}) {
      EXPECT_NEAR(spread.mean, 1, 0.05) << shape.to_string();
      EXPECT_NEAR(spread.deviation, chance, 0.25 * chance) << shape.to_string();
    }
    const Spread of_one = folded_power(shape, ElementType::f64, one, 50);
    EXPECT_NEAR(of_one.mean, 1, 1e-12) << "a single sample is seen in full";
    EXPECT_LE(of_one.deviation, 1e-6);
    const Spread of_burst = folded_power(shape, ElementType::f64, burst, kDraws);
    EXPECT_NEAR(of_burst.mean, 1, 0.1) << shape.to_string();
  }
}

}  // namespace
}  // namespace sfft::detail::whole_signal_test
