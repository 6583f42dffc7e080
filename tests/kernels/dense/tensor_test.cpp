// SPDX-License-Identifier: Apache-2.0
// Tests the arithmetic of split-half transforms and the layout of their kernels without a GPU: splits, scales
// and roots, and tables against double. Whole transforms by the kernels' lane functions with emulated matrix
// products are compared with transforms in double.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "kernels/base/tensor/folded.hpp"
#include "kernels/dense/wisdom/wisdom_text.hpp"
#include "kernels/runtime/embedded.hpp"
#include "tests/support/tensor_checks.hpp"

namespace sfft::detail {

extern const EmbeddedFile kShippedWisdom[];
extern const int kShippedWisdomCount;

}  // namespace sfft::detail

namespace sfft::test::tensor_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The logarithms of all lengths.
std::vector<int> all_logs() {
  std::vector<int> logs;
  for (int log = tensor::kMinLog; log <= tensor::kMaxLongLog; ++log) {
    if (tensor::has_passes(log, 1)) logs.push_back(log);
  }
  return logs;
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
  for (int log = 3; log <= tensor::kMaxLongLog; ++log) {
    for (unsigned e = 0; e < 1u << log; ++e) {
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
      const std::vector<unsigned> table = tensor::matrix_table(bits, sign);
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

TEST(Tensor, LengthsInOneOrTwoPasses) {
  EXPECT_EQ(all_logs(), (std::vector<int>{1, 2, 3, 4, 5, 13, 14, 15}));
  for (const int log : all_logs())
    EXPECT_EQ(tensor::planned_passes(log, 1).size(), log <= tensor::kMaxShortLog ? 1u : 2u) << "2^" << log;
  // There may be any number of short lines, and few long ones.
  EXPECT_TRUE(tensor::has_passes(tensor::kMaxShortLog, std::int64_t{1} << 40));
  EXPECT_TRUE(tensor::has_passes(14, 31));
  EXPECT_FALSE(tensor::has_passes(14, 32));
}

TEST(Tensor, ShippedWisdomNamesItForLengthsThatItHas) {
  int entries = 0;
  for (int i = 0; i < detail::kShippedWisdomCount; ++i) {
    const auto read = detail::read_wisdom(detail::kShippedWisdom[i].text,
                                          [](const detail::WisdomRecord&) { return std::string(); });
    for (const auto& [platform, problem, entry] : read.records) {
      if (entry.engine != "tensor") continue;
      const std::string kind = "f32 c2c ";
      ASSERT_TRUE(problem.transform.starts_with(kind)) << problem.transform;
      const std::int64_t points = std::stoll(problem.transform.substr(kind.size()));
      ASSERT_EQ(problem.transform, kind + std::to_string(points));
      const auto bits = static_cast<std::uint64_t>(points);
      EXPECT_TRUE(tensor::is_folded(points) ||
                  (std::has_single_bit(bits) && tensor::has_passes(std::bit_width(bits) - 1, problem.batch)))
          << problem.transform << " batch " << problem.batch;
      ++entries;
    }
  }
  EXPECT_GE(entries, 30);
}

TEST(Tensor, EveryLengthAgainstDouble) {
  for (const int log : all_logs()) {
    // There are more lines than one tile holds, and not a multiple of that.
    const std::size_t batch = log <= 13 ? 1 + (std::size_t{5000} >> log) : 2;
    const Values x = uniform_noise(batch << log, static_cast<unsigned>(log));
    const Exact expected = exact_spectra(x, log);
    for (const bool large : {false, true}) {
      EXPECT_LE(relative_l2(emulated_tensor_fft(x, log, {.large = large}), expected), kTensorBound)
          << "2^" << log << " large " << large;
    }
  }
}

/// The plan itself chooses large tiles.
TEST(Tensor, ManyLines) {
  constexpr int kLog = 4;
  const std::size_t batch = static_cast<std::size_t>(tensor::kFewPoints >> kLog) + 1;
  ASSERT_FALSE(tensor::planned_passes(kLog, static_cast<std::int64_t>(batch))[0].tile.small);
  const Values x = uniform_noise(batch << kLog, 3);
  EXPECT_LE(relative_l2(emulated_tensor_fft(x, kLog), exact_spectra(x, kLog)), kTensorBound);
}

TEST(Tensor, Inverses) {
  for (const int log : all_logs()) {
    const Values x = uniform_noise(std::size_t{1} << log, 5);
    const float scale = 1 / static_cast<float>(1 << log);
    Exact expected = exact_spectra(x, log, true);
    for (auto& value : expected) value *= double{scale};
    for (const bool large : {false, true}) {
      EXPECT_LE(
          relative_l2(emulated_tensor_fft(x, log, {.sign = 1, .factor = scale, .large = large}), expected),
          kTensorBound)
          << "2^" << log << " large " << large;
    }
  }
}

TEST(Tensor, EveryScaleFromTinyToHuge) {
  for (const int log : {1, 2, 3, 4, 5, 14}) {
    const std::size_t n = std::size_t{1} << log;
    for (int decade = -36; decade <= 33; decade += 3) {
      const auto scale = static_cast<float>(std::pow(10.0, decade));
      const Values x = uniform_noise(n, static_cast<unsigned>(log + 100 + decade), scale);
      // Results near the smallest normal number are multiples of 2^-149.
      const double min = 0x1p-149 / (double{scale} * std::sqrt(static_cast<double>(n)));
      const Exact expected = exact_spectra(x, log);
      for (const bool large : {false, true}) {
        EXPECT_LE(relative_l2(emulated_tensor_fft(x, log, {.large = large}), expected), kTensorBound + min)
            << "2^" << log << ", 1e" << decade << " large " << large;
      }
    }
  }
}

TEST(Tensor, VectorsOfABatchKeepTheirOwnScale) {
  for (const int log : {1, 2, 3, 4, 5, 13}) {
    const std::size_t n = std::size_t{1} << log;
    Values all;
    const std::vector<float> scales = {1e-30f, 1e30f, 0.0f, 1.0f, 1e-38f, 3e33f, 1e-44f};
    for (std::size_t i = 0; i < scales.size(); ++i) {
      const Values one = uniform_noise(n, static_cast<unsigned>(i), scales[i]);
      all.insert(all.end(), one.begin(), one.end());
    }
    const Values got = emulated_tensor_fft(all, log);
    const Exact expected = exact_spectra(all, log);
    // Results near the smallest normal number are multiples of 2^-149, those of the first of two passes too.
    const int first = log > tensor::kMaxShortLog ? log - tensor::kRowLog : log;
    for (std::size_t i = 0; i < scales.size(); ++i) {
      const double min = scales[i] > 0 ? 0x1p-149 / (double{scales[i]} * std::sqrt(1 << first)) : 0;
      EXPECT_LE(error_of_line(got, expected, std::int64_t{1} << log, i), kTensorBound + min)
          << "2^" << log << " vector " << i;
    }
  }
}

TEST(Tensor, NanAndInfinityStayInTheirVector) {
  for (const int log : all_logs()) {
    expect_others_without_trouble(std::int64_t{1} << log,
                                  [&](const Values& x) { return emulated_tensor_fft(x, log); });
  }
}

TEST(Tensor, HardSignals) {
  for (const int log : {5, 13, 14, 15}) {
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
  for (const int log : all_logs()) {
    const Values x = uniform_noise(std::size_t{3} << log, 6);
    EXPECT_EQ(emulated_tensor_fft(x, log, {.wide = false}), emulated_tensor_fft(x, log)) << log;
  }
}

TEST(Tensor, WithoutTheSplitAThousandTimesTheError) {
  const Values x = uniform_noise(std::size_t{1} << 13, 2);
  const double error = relative_l2(emulated_tensor_fft(x, 13, {.split = false}), exact_spectra(x, 13));
  EXPECT_GE(error, 1e-4);
  EXPECT_LE(error, 2e-3);
}

}  // namespace
}  // namespace sfft::test::tensor_test
