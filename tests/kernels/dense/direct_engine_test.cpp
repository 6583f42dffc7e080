// SPDX-License-Identifier: Apache-2.0
// Tests grids of a few points against sums: from samples of every type, in place, and inverse.
#include "kernels/dense/cpu/built_in_parts.hpp"

#include <gtest/gtest.h>

#include "tests/support/dense_reference.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test::direct_engine_test {
namespace {

template <class Real>
class DirectEngine : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(DirectEngine, Reals);

TYPED_TEST(DirectEngine, EqualsSums) {
  using Value = std::complex<TypeParam>;
  int direct = 0;
  for (std::int64_t x = 1; x <= 9; ++x) {
    for (std::int64_t y = 1; y <= 9; ++y) {
      for (const std::int64_t z : {1, 2, 3}) {
        const Shape shape({x, z, y});
        const auto points = static_cast<std::size_t>(shape.points());
        const double bound = 2 * fft_bound<TypeParam>(static_cast<double>(points));
        SCOPED_TRACE(shape.to_string());
        const auto scale = static_cast<TypeParam>(1 / static_cast<double>(points));
        alignas(64) std::byte workspace[4096];
        if (const auto engine = detail::make_direct_engine<TypeParam>(shape, false)) {
          ++direct;
          ASSERT_LE(engine->workspace_bytes(1), sizeof(workspace));
          const auto signal = as_samples<Value>(random_signal(points, 5));
          std::vector<Value> spectrum(points), back(points), own = signal;
          engine->forward(signal.data(), element_type_of<Value>::value, spectrum.data(),
                          {workspace, nullptr});
          EXPECT_LE(relative_l2(spectrum, expected_spectra(signal, shape, false)), bound);
          engine->inverse(spectrum.data(), back.data(), scale, {workspace, nullptr});
          EXPECT_LE(relative_l2(back, signal), 2 * bound);
          engine->forward(own.data(), element_type_of<Value>::value, own.data(), {workspace, nullptr});
          EXPECT_EQ(own, spectrum);
        }
        if (const auto engine = detail::make_direct_engine<TypeParam>(shape, true)) {
          ++direct;
          ASSERT_LE(engine->workspace_bytes(1), sizeof(workspace));
          std::vector<std::uint8_t> bytes(points);
          for (std::size_t i = 0; i < points; ++i) bytes[i] = static_cast<std::uint8_t>(i * i * 37 % 251);
          const std::vector<TypeParam> samples(bytes.begin(), bytes.end());
          const ComplexSignal sums = expected_spectra(samples, shape, true);
          std::vector<Value> spectrum(sums.size()), of_bytes(sums.size());
          std::vector<TypeParam> back(points);
          engine->forward(samples.data(), element_type_of<TypeParam>::value, spectrum.data(),
                          {workspace, nullptr});
          EXPECT_LE(relative_l2(spectrum, sums), bound);
          engine->forward(bytes.data(), ElementType::u8, of_bytes.data(), {workspace, nullptr});
          EXPECT_EQ(of_bytes, spectrum);
          engine->inverse(spectrum.data(), back.data(), scale, {workspace, nullptr});
          EXPECT_LE(relative_l2(back, samples), 2 * bound);
        }
      }
    }
  }
  EXPECT_GT(direct, 20);
  EXPECT_EQ(detail::make_direct_engine<TypeParam>(Shape(8), false), nullptr)
      << "lines have kernels of their own";
  EXPECT_EQ(detail::make_direct_engine<TypeParam>(Shape({8, 8}), false), nullptr);
}

}  // namespace
}  // namespace sfft::test::direct_engine_test
