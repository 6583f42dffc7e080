// SPDX-License-Identifier: Apache-2.0
// Tests lines that stay in registers against direct sums, in both directions, with gaps and in place.
#include "kernels/cpu/stages/short_lines.hpp"

#include <gtest/gtest.h>

#include "tests/support/direct_dft.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test::short_lines_test {
namespace {

template <class Real>
class ShortLines : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(ShortLines, Reals);

TYPED_TEST(ShortLines, EqualDirectSums) {
  using Value = std::complex<TypeParam>;
  const auto& kernels = detail::cpu::short_line_kernels<TypeParam>();
  EXPECT_EQ(kernels.of(17, false), nullptr);
  if (kernels.of(16, false) == nullptr) GTEST_SKIP() << "vectors of this instruction set are short";
  std::mt19937 generator(4);
  std::normal_distribution<double> normal;
  for (const std::int64_t n : {4, 8, 16, 32, 64, 128}) {
    if (kernels.of(n, false) == nullptr) continue;
    for (const std::int64_t count : {1, 2, 3, 7}) {
      for (const bool back : {false, true}) {
        for (const double scale : {1.0, 0.25}) {
          const std::int64_t stride = n + count % 3, to_stride = n + count % 2;
          std::vector<Value> from(static_cast<std::size_t>(count * stride)),
              to(static_cast<std::size_t>(count * to_stride), Value(-7, -7));
          for (Value& value : from)
            value = {static_cast<TypeParam>(normal(generator)), static_cast<TypeParam>(normal(generator))};
          const auto transform = [&](std::vector<Value>& result, std::int64_t result_stride) {
            kernels.of(n, back)(reinterpret_cast<const TypeParam*>(from.data()), stride,
                                reinterpret_cast<TypeParam*>(result.data()), result_stride, count,
                                static_cast<TypeParam>(scale));
          };
          transform(to, to_stride);
          const std::vector<Value> before = from;
          transform(from, stride);
          for (std::int64_t l = 0; l < count; ++l) {
            std::vector<std::complex<double>> x(before.begin() + l * stride, before.begin() + l * stride + n);
            for (auto& value : x) value = back ? std::conj(value) : value;
            x = direct_dft_axis(x, 1, n, 1);
            for (auto& value : x) value = scale * (back ? std::conj(value) : value);
            const std::vector<Value> apart(to.begin() + l * to_stride, to.begin() + l * to_stride + n),
                in_place(from.begin() + l * stride, from.begin() + l * stride + n);
            EXPECT_LE(relative_l2(apart, x), fft_bound<TypeParam>(static_cast<double>(n)));
            EXPECT_EQ(in_place, apart);
            for (std::int64_t gap = n; gap < to_stride; ++gap)
              EXPECT_EQ(to[static_cast<std::size_t>(l * to_stride + gap)], Value(-7, -7));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace sfft::test::short_lines_test
