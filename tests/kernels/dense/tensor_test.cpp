// SPDX-License-Identifier: Apache-2.0
// Tests the arithmetic of split-half transforms and the layout of their kernels without a GPU: splits, scales
// and roots, and tables against double. Whole transforms by the kernels' lane functions with emulated matrix
// products are compared with transforms in double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <span>

#include "tests/support/tensor_checks.hpp"

namespace sfft::test::tensor_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Exact exact_spectra(const Values& signals, const std::vector<int>& logs, bool inverse = false) {
  std::vector<std::int64_t> extents;
  for (const int log : logs) extents.push_back(std::int64_t{1} << log);
  return test::exact_spectra(signals, Shape(std::span<const std::int64_t>(extents)), inverse);
}
Exact exact_spectra(const Values& signals, int log, bool inverse = false) {
  return test::exact_spectra(signals, Shape{std::int64_t{1} << log}, inverse);
}

TEST(Tensor, SplitsAreWithin22Bits) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int exponent = -30; exponent <= 14; ++exponent) {
    for (int i = 0; i < 1000; ++i) {
      const tensor::Point x{std::ldexp(uniform(random), exponent), std::ldexp(uniform(random), exponent)};
      const tensor::SplitPoint parts = tensor::split(x);
      const double re = double{tensor::lower_half(parts.hi)} + tensor::lower_half(parts.lo),
                   im = double{tensor::upper_half(parts.hi)} + tensor::upper_half(parts.lo);
      // The error is half a unit in the last of 2·11 bits; fp16 has multiples of 2^-24.
      ASSERT_LE(std::fabs(re - double{x.re}), std::max(std::ldexp(std::fabs(double{x.re}), -22), 0x1p-25))
          << x.re;
      ASSERT_LE(std::fabs(im - double{x.im}), std::max(std::ldexp(std::fabs(double{x.im}), -22), 0x1p-25))
          << x.im;
    }
  }
}

TEST(Tensor, ScalesBringEveryLineToItsPlaceAndBack) {
  const float min = std::numeric_limits<float>::denorm_min();
  for (const float largest : {min, 3 * min, 1e-40f, 1.1754944e-38f, 1e-30f, 1e-7f, 1.0f, 1.999f, 1e30f,
                              std::numeric_limits<float>::max()}) {
    const unsigned bits = detail::half::bits_of(tensor::larger(0, -largest));
    tensor::Point point[1] = {{largest, -largest}};
    tensor::scale_all(point, tensor::entry_scale(bits));
    EXPECT_GE(point[0].re, 0x1p13f) << largest;
    EXPECT_LT(point[0].re, 0x1p14f) << largest;
    tensor::scale_all(point, tensor::scale_of(-tensor::scale_exponent(bits), 1));
    EXPECT_EQ(point[0].re, largest);
    EXPECT_EQ(point[0].im, -largest);
  }
  EXPECT_EQ(tensor::scale_exponent(0), 0);
  EXPECT_EQ(tensor::larger(std::numeric_limits<float>::quiet_NaN(), 2), 2);
  EXPECT_EQ(tensor::scale_exponent(detail::half::bits_of(kInfinity)),
            tensor::scale_exponent(detail::half::bits_of(std::numeric_limits<float>::max())));
}

TEST(Tensor, RootsAreExactToFloat) {
  for (int log = 3; log <= 27; ++log) {
    const unsigned step = log > 14 ? (1u << (log - 14)) + 1 : 1;
    for (unsigned e = 0; e < 1u << log; e += step) {
      const tensor::Point root = tensor::root_of(e, log, -1);
      const std::complex<double> expected = tensor::exact_root(e, log, -1);
      ASSERT_NEAR(double{root.re}, expected.real(), 1e-7) << log << " " << e;
      ASSERT_NEAR(double{root.im}, expected.imag(), 1e-7) << log << " " << e;
    }
  }
}

TEST(Tensor, MatricesOfTwoAndFourPointsAreExact) {
  for (const int sign : {-1, 1}) {
    for (int bits = 1; bits <= 3; ++bits) {
      const std::vector<unsigned> table = tensor::matrix_table({bits}, sign);
      bool exact = true;
      for (int lane = 0; lane < 32; ++lane) {
        const auto low = tensor::matrix_of<tensor::kMatrices>(table.data(), lane, true);
        for (const auto& product : low.at) {
          for (const auto& both : product) exact = exact && ((both[0] | both[1]) & 0x7fff7fffu) == 0;
        }
      }
      EXPECT_EQ(exact, bits <= 2) << bits;
    }
  }
}

TEST(Tensor, EveryPowerOfTwoAgainstDouble) {
  for (int log = tensor::kMinLog; log <= 20; ++log) {
    // There are more lines than one tile holds, and not a multiple of that.
    const std::size_t batch = log <= 13 ? 1 + (std::size_t{5000} >> log) : (log <= 15 ? 2 : 1);
    const Values x = uniform_noise(batch << log, static_cast<unsigned>(log));
    const Exact expected = exact_spectra(x, log);
    // Runs small tiles, and large ones.
    for (const std::int64_t few : {tensor::kFewPoints, std::int64_t{0}}) {
      if (log == (few > 0 ? 20 : 19)) continue;  // takes as long as all others together
      EXPECT_LE(relative_l2(emulated_tensor_fft(x, log, {.few = few}), expected), kTensorBound)
          << "2^" << log << " few " << few;
    }
  }
}

TEST(Tensor, Inverses) {
  for (const int log : {1, 2, 3, 4, 7, 9, 11, 12, 13, 14, 17}) {
    const Values x = uniform_noise(std::size_t{1} << log, 5);
    const float scale = 1 / static_cast<float>(1 << log);
    Exact expected = exact_spectra(x, log, true);
    for (auto& value : expected) value *= double{scale};
    for (const std::int64_t few : {tensor::kFewPoints, std::int64_t{0}}) {
      EXPECT_LE(relative_l2(emulated_tensor_fft(x, log, {.sign = 1, .factor = scale, .few = few}), expected),
                kTensorBound)
          << "2^" << log << " few " << few;
    }
  }
}

TEST(Tensor, SeveralDimensions) {
  const std::vector<std::vector<int>> shapes = {{4, 8},    {8, 4},    {10, 4},   {4, 13},   {9, 6},   {9, 3},
                                                {5, 9, 3}, {4, 4, 8}, {6, 6, 6}, {5, 4, 8}, {7, 5, 7}};
  for (const std::vector<int>& logs : shapes) {
    std::string name;
    std::size_t points = 1;
    for (const int log : logs) {
      name += " 2^" + std::to_string(log);
      points <<= log;
    }
    ASSERT_TRUE(tensor::has_passes(logs)) << name;
    const Values x = uniform_noise(2 * points, 1);
    EXPECT_LE(relative_l2(emulated_tensor_fft(x, logs), exact_spectra(x, logs)), kTensorBound) << name;
  }
}

/// Planes of few points take one pass if both dimensions have the same number of stages; others take two.
TEST(Tensor, Planes) {
  for (int column = tensor::kMinPlaneLog; column <= tensor::kMaxPlaneLog; ++column) {
    for (int row = tensor::kMinPlaneLog; row <= tensor::kMaxPlaneLog; ++row) {
      const std::vector<int> logs{column, row};
      if (!tensor::has_passes(logs)) continue;
      EXPECT_EQ(tensor::planned_passes(logs, {3}).size(), tensor::is_plane(column, row) ? 1u : 2u);
      EXPECT_EQ(tensor::planned_passes(logs, {3, 0}).size(), 2u);
      const Values x = uniform_noise(std::size_t{3} << (column + row), 1);
      EXPECT_LE(relative_l2(emulated_tensor_fft(x, logs), exact_spectra(x, logs)), kTensorBound)
          << column << " " << row;
      EXPECT_LE(relative_l2(emulated_tensor_fft(x, logs, {.sign = 1}), exact_spectra(x, logs, true)),
                kTensorBound)
          << column << " " << row;
    }
  }
}

TEST(Tensor, EveryScaleFromTinyToHuge) {
  for (const int log : {1, 2, 3, 4, 6, 8, 11, 14}) {
    const std::size_t n = std::size_t{1} << log;
    for (int decade = -36; decade <= 33; decade += 3) {
      const auto scale = static_cast<float>(std::pow(10.0, decade));
      const Values x = uniform_noise(n, static_cast<unsigned>(log + 100 + decade), scale);
      // Results near the smallest normal number are multiples of 2^-149.
      const double min = 0x1p-149 / (double{scale} * std::sqrt(static_cast<double>(n)));
      const Exact expected = exact_spectra(x, log);
      for (const std::int64_t few : {tensor::kFewPoints, std::int64_t{0}}) {
        EXPECT_LE(relative_l2(emulated_tensor_fft(x, log, {.few = few}), expected), kTensorBound + min)
            << "2^" << log << ", 1e" << decade << " few " << few;
      }
    }
  }
}

TEST(Tensor, VectorsOfABatchKeepTheirOwnScale) {
  for (const int log : {1, 2, 3, 4, 5, 8, 10}) {
    const std::size_t n = std::size_t{1} << log;
    Values all;
    const std::vector<float> scales = {1e-30f, 1e30f, 0.0f, 1.0f, 1e-38f, 3e33f, 1e-44f};
    for (std::size_t i = 0; i < scales.size(); ++i) {
      const Values one = uniform_noise(n, static_cast<unsigned>(i), scales[i]);
      all.insert(all.end(), one.begin(), one.end());
    }
    const Values got = emulated_tensor_fft(all, log);
    const Exact expected = exact_spectra(all, log);
    for (std::size_t i = 0; i < scales.size(); ++i) {
      const double min =
          scales[i] > 0 ? 0x1p-149 / (double{scales[i]} * std::sqrt(static_cast<double>(n))) : 0;
      EXPECT_LE(error_of_line(got, expected, std::int64_t{1} << log, i), kTensorBound + min)
          << "2^" << log << " vector " << i;
    }
  }
}

TEST(Tensor, NanAndInfinityStayInTheirVector) {
  for (const int log : {1, 2, 3, 4, 6, 8, 12}) {
    expect_others_without_trouble(std::int64_t{1} << log,
                                  [&](const Values& x) { return emulated_tensor_fft(x, log); });
  }
}

TEST(Tensor, HardSignals) {
  for (const int log : {8, 12, 13, 16}) {
    const std::size_t n = std::size_t{1} << log;
    Values impulse(n), constant(n, {1, -1}), spike = uniform_noise(n, 4, 1e-6f), tone(n);
    impulse[n / 3] = {0.75f, 0.1f};
    spike[5] = {1e6f, 0};
    for (std::size_t i = 0; i < n; ++i)
      tone[i] = std::complex<float>(tensor::exact_root(static_cast<unsigned>(i * 7 % n), log, 1));
    for (const Values& x : {impulse, constant, spike, tone})
      EXPECT_LE(relative_l2(emulated_tensor_fft(x, log), exact_spectra(x, log)), kTensorBound) << "2^" << log;
  }
}

/// Arrays that are aligned only to points are read and written point by point, with the same results.
TEST(Tensor, UnalignedArrays) {
  for (const std::vector<int>& logs : {std::vector<int>{1}, {3}, {5}, {9}, {12}, {15}, {9, 3}}) {
    int log = 0;
    for (const int one : logs) log += one;
    const Values x = uniform_noise(std::size_t{3} << log, 6);
    EXPECT_EQ(emulated_tensor_fft(x, logs, {-1, 1, true, false}), emulated_tensor_fft(x, logs)) << log;
  }
}

TEST(Tensor, WithoutTheSplitAThousandTimesTheError) {
  const Values x = uniform_noise(4096, 2);
  const double error = relative_l2(emulated_tensor_fft(x, 12, {-1, 1, false}), exact_spectra(x, 12));
  EXPECT_GE(error, 1e-4);
  EXPECT_LE(error, 2e-3);
}

}  // namespace
}  // namespace sfft::test::tensor_test
