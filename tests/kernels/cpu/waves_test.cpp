// SPDX-License-Identifier: Apache-2.0
// Tests the waves with which the witness of discovery compares samples, against sums by definition.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "kernels/base/math/index.hpp"
#include "kernels/cpu/stages/waves.hpp"

namespace sfft::detail::waves_test {
namespace {

using Complex = std::complex<double>;

/// exp(2 pi i f·t/n), with the phase reduced in integers.
Complex root(std::int64_t f, std::int64_t t, std::int64_t n) {
  const auto turns = static_cast<long double>(multiply_mod(f, t, n)) / static_cast<long double>(n);
  const long double angle = 2 * std::numbers::pi_v<long double> * turns;
  return {static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
}

template <class Real>
void expect_sums(const std::vector<std::int64_t>& extents, double tolerance) {
  constexpr std::int64_t kWaves = 37, kAnchors = 2 * cpu::kWaveBlock, kOffsets = cpu::kWaveOffsets;
  std::mt19937_64 random(5);
  const auto draw = [&](std::int64_t count, std::vector<double>* at) {
    for (std::size_t d = 0; d < extents.size(); ++d) {
      for (std::int64_t i = 0; i < count; ++i)
        at[d].push_back(static_cast<double>(random() % static_cast<std::uint64_t>(extents[d])));
    }
  };
  std::vector<double> f[3], anchors[3], offsets[3];
  draw(kWaves, f);
  draw(kAnchors, anchors);
  draw(kOffsets, offsets);
  std::normal_distribution<double> normal;
  std::vector<double> value_re, value_im;
  for (int i = 0; i < kWaves; ++i) {
    value_re.push_back(normal(random));
    value_im.push_back(normal(random));
  }
  cpu::WaveGrid grid{{1, 1, 1}, static_cast<int>(extents.size())};
  for (std::size_t d = 0; d < extents.size(); ++d) grid.extents[d] = static_cast<double>(extents[d]);
  const auto points = [](std::vector<double>* at, std::int64_t count) {
    return cpu::WavePoints{{at[0].data(), at[1].data(), at[2].data()}, count};
  };
  std::vector<Real> first_re(kWaves * kAnchors), first_im(kWaves * kAnchors);
  std::vector<Real> second_re(kWaves * kOffsets), second_im(kWaves * kOffsets);
  const auto& kernels = cpu::wave_kernels<Real>();
  kernels.roots(points(f, kWaves), value_re.data(), value_im.data(), points(anchors, kAnchors), grid,
                first_re.data(), first_im.data());
  kernels.roots(points(f, kWaves), nullptr, nullptr, points(offsets, kOffsets), grid, second_re.data(),
                second_im.data());
  std::vector<double> re(kAnchors * kOffsets, 0.25), im(kAnchors * kOffsets, -0.5), alone = re;
  const cpu::WaveTables<Real> tables{first_re.data(),  first_im.data(), second_re.data(),
                                     second_im.data(), kWaves,          kAnchors};
  kernels.sums(tables, re.data(), im.data());
  kernels.sums(tables, alone.data(), nullptr);
  for (std::size_t a = 0; a < kAnchors; ++a) {
    for (std::size_t b = 0; b < kOffsets; ++b) {
      Complex expected(0.25, -0.5);
      for (std::size_t i = 0; i < kWaves; ++i) {
        Complex wave(value_re[i], value_im[i]);
        for (std::size_t d = 0; d < extents.size(); ++d) {
          const auto own = static_cast<std::int64_t>(f[d][i]);
          wave *= root(own, static_cast<std::int64_t>(anchors[d][a]), extents[d]) *
                  root(own, static_cast<std::int64_t>(offsets[d][b]), extents[d]);
        }
        expected += wave;
      }
      const std::size_t at = a * kOffsets + b;
      EXPECT_NEAR(re[at], expected.real(), tolerance);
      EXPECT_NEAR(im[at], expected.imag(), tolerance);
      EXPECT_EQ(alone[at], re[at]);
    }
  }
}

TEST(Waves, SumsOverEveryShape) {
  const std::vector<std::vector<std::int64_t>> shapes = {
      {1}, {2}, {16384}, {10007}, {std::int64_t{1} << 40}, {999999999989}, {128, 96}, {61, 67}, {17, 19, 23}};
  for (const auto& extents : shapes) {
    expect_sums<float>(extents, 2e-5);
    expect_sums<double>(extents, 3e-14);
  }
}

TEST(Waves, WhatIsLeftOfSamples) {
  constexpr std::size_t kCount = 4 * cpu::kWaveBlock;
  std::vector<float> re(kCount), im(kCount);
  std::vector<double> predicted_re(kCount), predicted_im(kCount);
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  double seen = 0, energy = 0, squares = 0, outliers = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    re[i] = static_cast<float>(normal(random));
    im[i] = static_cast<float>(normal(random));
    predicted_re[i] = normal(random);
    predicted_im[i] = normal(random);
    const Complex x(re[i], im[i]);
    const double rest = std::norm(x - Complex(predicted_re[i], predicted_im[i]));
    seen += std::norm(x);
    energy += rest;
    squares += rest * rest;
    outliers += rest > 2 + 0.5 * std::norm(x) ? 1 : 0;
  }
  const auto& kernels = cpu::wave_kernels<float>();
  cpu::WaveRest rest;
  kernels.compare(re.data(), im.data(), predicted_re.data(), predicted_im.data(), kCount, 2, 0.5, rest);
  EXPECT_NEAR(rest.seen, seen, 1e-12 * seen);
  EXPECT_NEAR(rest.energy, energy, 1e-12 * energy);
  EXPECT_NEAR(rest.squares, squares, 1e-12 * squares);
  EXPECT_EQ(rest.outliers, outliers);
  cpu::WaveRest real;
  re[5] = std::numeric_limits<float>::quiet_NaN();
  kernels.compare(re.data(), nullptr, predicted_re.data(), nullptr, kCount, 1e30, 0, real);
  EXPECT_EQ(real.outliers, 1);
  EXPECT_FALSE(std::isfinite(real.seen));
}

template <class T>
void expect_fold(ElementType type, double scale, double tolerance) {
  const auto& kernels = cpu::wave_kernels<float>();
  const auto size = static_cast<std::int64_t>(cpu::kWaveOffsets);
  for (const std::int64_t columns :
       {std::int64_t{1}, std::int64_t{3}, std::int64_t{7}, std::int64_t{20}, size}) {
    for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{5}, cpu::kFoldRows}) {
      const std::int64_t pitch = columns + 2;
      std::vector<T> x(static_cast<std::size_t>(rows * pitch));
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double value = 100 + 90 * std::sin(static_cast<double>(i) + 1);
        if constexpr (std::is_integral_v<T>) {
          x[i] = static_cast<T>(value);
        } else {
          x[i] = static_cast<T>(value / scale);
        }
      }
      std::vector<double> weight_re, weight_im;
      for (std::int64_t r = 0; r < rows; ++r) {
        weight_re.push_back(std::cos(static_cast<double>(3 * r)));
        weight_im.push_back(std::sin(static_cast<double>(3 * r)));
      }
      std::vector<double> re(32, 1.0), im(32, -1.0);
      double energy = 5, expected_energy = 5;
      kernels.fold[static_cast<std::size_t>(type)](x.data(), rows, pitch, columns, scale, weight_re.data(),
                                                   weight_im.data(), re.data(), im.data(), energy);
      for (std::int64_t c = 0; c < columns; ++c) {
        Complex sum(1, -1);
        for (std::int64_t r = 0; r < rows; ++r) {
          const auto at = static_cast<std::size_t>(r);
          const Complex value = scale * Complex(x[static_cast<std::size_t>(r * pitch + c)]);
          sum += Complex(weight_re[at], weight_im[at]) * value;
          expected_energy += std::norm(value);
        }
        EXPECT_NEAR(re[static_cast<std::size_t>(c)], sum.real(), tolerance * 200 * static_cast<double>(rows));
        EXPECT_NEAR(im[static_cast<std::size_t>(c)], sum.imag(), tolerance * 200 * static_cast<double>(rows));
      }
      EXPECT_NEAR(energy, expected_energy, tolerance * expected_energy);
    }
  }
}

TEST(Waves, FoldAddsUpWeightedRowsOfEveryType) {
  expect_fold<std::uint8_t>(ElementType::u8, 0.5, 1e-6);
  expect_fold<std::uint16_t>(ElementType::u16, 1, 1e-6);
  expect_fold<float>(ElementType::f32, 0x1p20, 1e-6);
  expect_fold<double>(ElementType::f64, 0x1p600, 1e-14);
  expect_fold<std::complex<float>>(ElementType::c64, 1, 1e-6);
  expect_fold<std::complex<double>>(ElementType::c128, 0x1p600, 1e-14);
  expect_fold<std::int16_t>(ElementType::s16, 1, 1e-6);
  expect_fold<std::int32_t>(ElementType::s32, 0.5, 1e-14);
}

TEST(Waves, LargestOfAnyCount) {
  const auto& kernels = cpu::wave_kernels<float>();
  for (const std::size_t count : {1u, 7u, 15u, 16u, 17u, 33u, 1000u}) {
    const auto n = static_cast<std::int64_t>(count);
    std::vector<float> values(count, -0.5f);
    values[count / 2] = -3.0f;
    const std::uint64_t bits = kernels.largest(values.data(), n);
    float largest = 0;
    const auto word = static_cast<std::uint32_t>(bits);
    std::memcpy(&largest, &word, sizeof largest);
    EXPECT_EQ(largest, 3.0f);
  }
}

}  // namespace
}  // namespace sfft::detail::waves_test
