// SPDX-License-Identifier: Apache-2.0
// Tests the flat window's kernels alone against direct sums in double.
#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "kernels/cpu/stages/flat_recover.hpp"
#include "kernels/cpu/stages/subsample.hpp"

namespace flat_stages_test {
namespace {

template <class Real>
void expect_stages_match_sums() {
  std::mt19937 generator(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto random = [&](std::size_t count) {
    std::vector<Real> values(count);
    for (Real& value : values) value = static_cast<Real>(uniform(generator));
    return values;
  };
  const double tolerance = 50 * std::numeric_limits<Real>::epsilon();
  for (const std::int64_t folds : {1, 2, 3, 5}) {
    for (const std::int64_t count : {1, 3, 16, 37, 100}) {
      const auto taps = random(static_cast<std::size_t>(folds * count));
      const auto window = random(taps.size());
      std::vector<Real> out(static_cast<std::size_t>(count));
      sfft::detail::cpu::subsample_kernels<Real>().fold(taps.data(), window.data(), count, folds, out.data());
      for (std::int64_t i = 0; i < count; ++i) {
        double sum = 0;
        for (std::int64_t a = i; a < folds * count; a += count) {
          sum += static_cast<double>(taps[static_cast<std::size_t>(a)]) * window[static_cast<std::size_t>(a)];
        }
        EXPECT_NEAR(out[static_cast<std::size_t>(i)], sum, tolerance);
      }
    }
  }
  const auto& kernels = sfft::detail::cpu::flat_recover_kernels<Real>();
  constexpr std::int64_t kAlign = sfft::detail::cpu::kFlatRowAlign<Real>;
  for (const std::int64_t length : {kAlign, 2 * kAlign, 3 * kAlign, 4 * kAlign, 5 * kAlign, 6 * kAlign}) {
    for (const std::int64_t rows : {1, 7, 8, 19}) {
      const std::size_t size = 40 + static_cast<std::size_t>(length);
      const auto re = random(size), im = random(size),
                 weights = random(static_cast<std::size_t>(4 * length * rows));
      std::vector<std::int32_t> start, mirror;
      for (std::int64_t i = 0; i < rows; ++i) {
        start.push_back(static_cast<std::int32_t>(generator() % 41));
        mirror.push_back(static_cast<std::int32_t>(generator() % 41));
      }
      std::vector<Real> complex(static_cast<std::size_t>(2 * rows)), real(complex);
      kernels.read_complex(re.data(), im.data(), start.data(), weights.data(), length, rows, complex.data());
      kernels.read_real(re.data(), im.data(), start.data(), mirror.data(), weights.data(), length, rows,
                        real.data());
      for (std::int64_t i = 0; i < rows; ++i) {
        const auto weight = [&](std::int64_t parts, std::int64_t part, std::int64_t q) {
          const Real* w = &weights[static_cast<std::size_t>((i * parts + part) * length + q)];
          return std::complex<double>(w[0], w[length]);
        };
        std::complex<double> one = 0, two = 0;
        for (std::int64_t q = 0; q < length; ++q) {
          const auto at = static_cast<std::size_t>(start[static_cast<std::size_t>(i)] + q);
          const auto other = static_cast<std::size_t>(mirror[static_cast<std::size_t>(i)] + q);
          const std::complex<double> z(re[at], im[at]), mirrored(re[other], im[other]);
          one += weight(2, 0, q) * z;
          two += weight(4, 0, q) * z + weight(4, 2, q) * std::conj(mirrored);
        }
        const auto at = static_cast<std::size_t>(2 * i);
        EXPECT_NEAR(complex[at], one.real(), tolerance);
        EXPECT_NEAR(complex[at + 1], one.imag(), tolerance);
        EXPECT_NEAR(real[at], two.real(), tolerance);
        EXPECT_NEAR(real[at + 1], two.imag(), tolerance);
      }
    }
  }
}

TEST(FlatStages, AgreeWithDirectSums) {
  expect_stages_match_sums<float>();
  expect_stages_match_sums<double>();
}

}  // namespace
}  // namespace flat_stages_test
