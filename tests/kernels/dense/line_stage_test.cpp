// SPDX-License-Identifier: Apache-2.0
// Tests the row and column passes of the built-in dense engine, each alone, against direct sums in double.
#include "kernels/dense/cpu/line_stage.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/direct_dft.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::detail::line_stage_test {
namespace {

using Signal = std::vector<std::complex<double>>;

template <class Real>
class LineStageTest : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(LineStageTest, Precisions);

/// Scratch memory of a stage, aligned to cache lines as the engine provides it.
template <class Real>
class Scratch {
 public:
  explicit Scratch(std::size_t reals) : memory_(reals * sizeof(Real) + 64) {}
  std::byte* data() {
    void* start = memory_.data();
    std::size_t room = memory_.size();
    return static_cast<std::byte*>(std::align(64, 1, start, room));
  }

 private:
  std::vector<std::byte> memory_;
};

const std::vector<std::int64_t> kLengths{1,  2,  3,  4,  5,   6,   7,   8,   12,  15,   16,  17,
                                         30, 61, 64, 67, 100, 127, 134, 240, 256, 1000, 1021};

TYPED_TEST(LineStageTest, ComplexRows) {
  for (const std::int64_t n : kLengths) {
    const Signal x = test::random_signal(static_cast<std::size_t>(n), static_cast<unsigned>(n));
    const Signal expected = test::direct_dft(x, {{n}});
    const double bound = test::fft_bound<TypeParam>(static_cast<double>(n));
    const RowStage<TypeParam> stage(n, false);
    ASSERT_EQ(stage.spectrum_points(), n);
    Scratch<TypeParam> scratch(stage.workspace_reals());
    std::vector<std::complex<TypeParam>> row(x.begin(), x.end()), spectrum(row.size()), again(row.size());
    constexpr ElementType own = element_type_of<std::complex<TypeParam>>::value;
    stage.forward(row.data(), own, spectrum.data(), scratch.data());
    EXPECT_LE(test::relative_l2(spectrum, expected), bound) << n;

    // The input is the exact spectrum scaled by 1/n.
    const std::vector<std::complex<TypeParam>> exact(expected.begin(), expected.end());
    stage.inverse(exact.data(), again.data(), static_cast<TypeParam>(1.0 / static_cast<double>(n)),
                  scratch.data());
    EXPECT_LE(test::relative_l2(again, x), 2 * bound) << n;
  }
}

TYPED_TEST(LineStageTest, RealRowsOfEveryElementType) {
  for (const std::int64_t n : kLengths) {
    std::vector<std::uint8_t> bytes;
    for (const auto& value : test::random_signal(static_cast<std::size_t>(n), 7))
      bytes.push_back(static_cast<std::uint8_t>(std::clamp(100 + 40 * value.real(), 0.0, 255.0)));
    const Signal x(bytes.begin(), bytes.end());
    Signal expected = test::direct_dft(x, {{n}});
    expected.resize(static_cast<std::size_t>(n / 2 + 1));
    const double bound = test::fft_bound<TypeParam>(static_cast<double>(n));
    const RowStage<TypeParam> stage(n, true);
    ASSERT_EQ(stage.spectrum_points(), n / 2 + 1);
    Scratch<TypeParam> scratch(stage.workspace_reals());
    const auto check = [&](const auto& row) {
      using T = std::remove_cvref_t<decltype(row[0])>;
      std::vector<std::complex<TypeParam>> spectrum(expected.size());
      stage.forward(row.data(), element_type_of<T>::value, spectrum.data(), scratch.data());
      EXPECT_LE(test::relative_l2(spectrum, expected), bound) << n;
    };
    check(bytes);
    check(std::vector<std::uint16_t>(bytes.begin(), bytes.end()));
    check(std::vector<float>(bytes.begin(), bytes.end()));
    check(std::vector<double>(bytes.begin(), bytes.end()));

    const std::vector<std::complex<TypeParam>> exact(expected.begin(), expected.end());
    std::vector<TypeParam> again(bytes.size());
    stage.inverse(exact.data(), again.data(), static_cast<TypeParam>(1.0 / static_cast<double>(n)),
                  scratch.data());
    EXPECT_LE(test::relative_l2(again, x), 2 * bound) << n;
  }
}

/// Uses shapes n × inner for which blocks of columns are narrower than the array, as wide, or followed by a
/// remainder.
TYPED_TEST(LineStageTest, ColumnsInPlaceAndOutOfPlace) {
  std::vector<std::pair<std::int64_t, std::int64_t>> sizes{{256, 600}};  // beyond a second-level cache
  for (const std::int64_t n : {2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13,  14,  15, 16,
                               17, 20, 31, 34, 48, 55, 61, 64, 67, 72, 91, 100, 150, 257}) {
    for (const std::int64_t inner : {1, 2, 7, 16, 17, 33, 65, 71, 200}) sizes.emplace_back(n, inner);
  }
  {
    for (const auto& [n, inner] : sizes) {
      const auto size = static_cast<std::size_t>(n * inner);
      const Signal x = test::random_signal(size, static_cast<unsigned>(size));
      const Signal expected = test::direct_dft_axis(x, 1, n, inner);
      const double bound = test::fft_bound<TypeParam>(static_cast<double>(n));
      const ColumnStage<TypeParam> stage(n, inner);
      Scratch<TypeParam> scratch(stage.workspace_reals());
      const std::vector<std::complex<TypeParam>> from(x.begin(), x.end());
      std::vector<std::complex<TypeParam>> out_of_place(size), in_place = from;
      stage.transform(from.data(), out_of_place.data(), false, scratch.data());
      EXPECT_LE(test::relative_l2(out_of_place, expected), bound) << n << " x " << inner;
      stage.transform(in_place.data(), in_place.data(), false, scratch.data());
      EXPECT_EQ(in_place, out_of_place) << n << " x " << inner;

      // The inverse is not scaled, so it returns n times the signal.
      std::vector<std::complex<TypeParam>> exact(expected.begin(), expected.end());
      stage.transform(exact.data(), exact.data(), true, scratch.data());
      Signal scaled = x;
      for (auto& value : scaled) value *= static_cast<double>(n);
      EXPECT_LE(test::relative_l2(exact, scaled), 2 * bound) << n << " x " << inner;
    }
  }
}

/// Columns become rows, and the operation in between sees every column once.
TYPED_TEST(LineStageTest, TransposedColumns) {
  for (const auto& [n, inner] : {std::pair{6, 5}, {16, 40}, {61, 3}, {100, 33}, {127, 70}, {8, 1}}) {
    const auto size = static_cast<std::size_t>(n * inner);
    const Signal x = test::random_signal(size, static_cast<unsigned>(size));
    const Signal columns = test::direct_dft_axis(x, 1, n, inner);
    Signal expected(size);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t c = 0; c < inner; ++c)
        expected[static_cast<std::size_t>(c * n + i)] =
            static_cast<double>(c + 1) * columns[static_cast<std::size_t>(i * inner + c)];
    const ColumnStage<TypeParam> stage(n, inner);
    Scratch<TypeParam> scratch(stage.workspace_reals());
    const std::vector<std::complex<TypeParam>> from(x.begin(), x.end());
    std::vector<std::complex<TypeParam>> to(size, TypeParam(-9));
    for (std::int64_t block = 0; block < stage.blocks(); ++block)
      stage.transposed_block(block, from.data(), to.data(), false, scratch.data(),
                             [n](std::int64_t first, std::int64_t count, TypeParam* re, TypeParam* im) {
                               for (std::int64_t i = 0; i < n * count; ++i) {
                                 const auto by = static_cast<TypeParam>(first + i % count + 1);
                                 re[i] *= by;
                                 im[i] *= by;
                               }
                             });
    EXPECT_LE(test::relative_l2(to, expected), test::fft_bound<TypeParam>(static_cast<double>(n)))
        << n << " x " << inner;
  }
}

}  // namespace
}  // namespace sfft::detail::line_stage_test
