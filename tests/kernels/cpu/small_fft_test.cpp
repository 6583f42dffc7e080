// SPDX-License-Identifier: Apache-2.0
// Tests the small FFT against direct sums for every instruction set, length, lane count and dimension.
#include "kernels/cpu/small_fft/small_fft.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/cpu/small_fft/small_fft_kernels.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/tolerance.hpp"

namespace small_fft_test {
namespace {

using sfft::detail::cpu::best_isa;
using sfft::detail::cpu::Isa;
using sfft::detail::cpu::SmallFft;
using sfft::test::direct_dft;
using sfft::test::fft_bound;
using sfft::test::random_signal;
using sfft::test::relative_l2;
using Grid = std::vector<std::int64_t>;
using Signal = std::vector<std::complex<double>>;

std::vector<Isa> isas() {
  std::vector<Isa> all;
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (isa <= best_isa()) all.push_back(isa);
  }
  return all;
}

std::string name(const Grid& grid, std::int64_t lanes, Isa isa) {
  std::ostringstream text;
  text << isa_name(isa);
  for (const std::int64_t extent : grid) text << ' ' << extent;
  text << " lanes " << lanes;
  return text.str();
}

/// Four buffers of exactly the promised size. Each is a separate allocation, so that a sanitizer sees every
/// overrun.
template <class Real>
struct Buffers {
  explicit Buffers(std::size_t reals) : re(reals), im(reals), scratch_re(reals), scratch_im(reals) {}
  std::vector<Real> re, im, scratch_re, scratch_im;
};

template <class Real>
Signal transform(const SmallFft<Real>& fft, const Signal& x, std::int64_t slabs = 0) {
  Buffers<Real> b(fft.buffer_reals());
  for (std::size_t i = 0; i < x.size(); ++i) {
    b.re[i] = static_cast<Real>(x[i].real());
    b.im[i] = static_cast<Real>(x[i].imag());
  }
  bool in_scratch = false;
  if (slabs == 0) {
    in_scratch = fft.execute(b.re.data(), b.im.data(), b.scratch_re.data(), b.scratch_im.data());
  } else {
    for (std::int64_t m = slabs; m-- > 0;) {
      fft.slab(m, b.re.data(), b.im.data(), b.scratch_re.data(), b.scratch_im.data());
    }
    in_scratch = fft.columns(b.re.data(), b.im.data(), b.scratch_re.data(), b.scratch_im.data());
  }
  EXPECT_EQ(in_scratch, fft.result_in_scratch());
  Signal y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = in_scratch ? std::complex<double>(b.scratch_re[i], b.scratch_im[i])
                      : std::complex<double>(b.re[i], b.im[i]);
  }
  return y;
}

template <class Real>
void check(const Grid& grid, std::int64_t lanes) {
  std::int64_t points = 1;
  for (const std::int64_t extent : grid) points *= extent;
  const Signal x =
      random_signal(static_cast<std::size_t>(points * lanes), static_cast<unsigned>(points + lanes));
  const Signal expected = direct_dft(x, grid, lanes);
  for (const Isa isa : isas()) {
    const SmallFft<Real> fft(grid, lanes, isa);
    const double error = relative_l2(transform(fft, x), expected);
    EXPECT_TRUE(error <= fft_bound<Real>(static_cast<double>(points)))
        << name(grid, lanes, isa) << ": " << error;
  }
}

template <class Real>
class SmallFftTest : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallFftTest, Reals);

TYPED_TEST(SmallFftTest, EveryLengthTo512) {
  for (std::int64_t n = 1; n <= 512; ++n) check<TypeParam>({n}, 1);
}

TYPED_TEST(SmallFftTest, EveryLengthTo100WithLanes) {
  for (std::int64_t n = 1; n <= 100; ++n) {
    for (const std::int64_t lanes : {2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 33}) check<TypeParam>({n}, lanes);
  }
}

TYPED_TEST(SmallFftTest, LongerLengths) {
  for (const std::int64_t n : {768, 1021, 1024, 1080, 1331, 2048, 2187, 2197, 3600}) {
    for (const std::int64_t lanes : {1, 2, 3, 4, 6, 16}) check<TypeParam>({n}, lanes);
  }
}

TYPED_TEST(SmallFftTest, Grids) {
  const std::vector<Grid> grids = {{1, 1},     {1, 7},     {7, 1},       {8, 8},       {72, 96},
                                   {9, 35},    {67, 71},   {3, 127},     {127, 3},     {16, 101},
                                   {1, 1, 1},  {2, 3, 5},  {16, 16, 16}, {7, 1, 9},    {1, 11, 1},
                                   {67, 1, 2}, {4, 67, 5}, {5, 4, 67},   {12, 10, 15}, {13, 17, 19}};
  for (const Grid& grid : grids) {
    for (const std::int64_t lanes : {1, 2, 3, 4, 5, 8, 16}) check<TypeParam>(grid, lanes);
  }
}

TYPED_TEST(SmallFftTest, SlabsInAnyOrderThenColumnsEqualExecute) {
  for (const Grid& grid : std::vector<Grid>{{12, 20}, {5, 67}, {67, 5}, {3, 4, 5}, {4, 67, 71}, {30}}) {
    const SmallFft<TypeParam> fft(grid, 3);
    std::int64_t points = 3;
    for (const std::int64_t extent : grid) points *= extent;
    const Signal x = random_signal(static_cast<std::size_t>(points), 5);
    EXPECT_EQ(transform(fft, x, grid[0]), transform(fft, x)) << name(grid, 3, best_isa());
  }
}

TYPED_TEST(SmallFftTest, NotANumberReachesEveryFrequencyOfItsLane) {
  for (const std::int64_t n : {16, 30, 37, 67, 128}) {
    for (const std::int64_t lanes : {1, 3, 4}) {
      Signal x = random_signal(static_cast<std::size_t>(n * lanes), 7);
      x[static_cast<std::size_t>(5 * lanes)] = std::numeric_limits<double>::quiet_NaN();
      const Signal y = transform(SmallFft<TypeParam>(Grid{n}, lanes), x);
      for (std::size_t i = 0; i < y.size(); ++i) {
        const bool hit = i % static_cast<std::size_t>(lanes) == 0;
        EXPECT_EQ(hit, std::isnan(y[i].real()) || std::isnan(y[i].imag())) << n << " " << lanes << " " << i;
      }
    }
  }
}

TYPED_TEST(SmallFftTest, TransposesMatricesOfEveryShapeAndWritesNothingElse) {
  for (const Isa isa : isas()) {
    const auto transpose = sfft::detail::cpu::small_fft_kernels<TypeParam>(isa).transpose;
    for (std::int64_t rows = 1; rows <= 40; ++rows) {
      for (std::int64_t columns = 1; columns <= 40; ++columns) {
        const auto size = static_cast<std::size_t>(rows * columns);
        std::vector<TypeParam> x(size), y(size + 16, -1), expected(size + 16, -1);
        for (std::size_t i = 0; i < size; ++i) x[i] = static_cast<TypeParam>(i);
        for (std::size_t i = 0; i < size; ++i) {
          const auto column = i / static_cast<std::size_t>(rows), row = i % static_cast<std::size_t>(rows);
          expected[i] = x[row * static_cast<std::size_t>(columns) + column];
        }
        transpose(x.data(), rows, columns, y.data());
        EXPECT_EQ(y, expected) << name({rows, columns}, 1, isa);
      }
    }
  }
}

TYPED_TEST(SmallFftTest, CountsOperations) {
  const SmallFft<TypeParam> fft(Grid{1024}, 4);
  EXPECT_GT(fft.flops(), 4 * 1024 * 10.0);
  EXPECT_LT(fft.flops(), 4 * 1024 * 100.0);
  EXPECT_EQ(fft.buffer_reals(), 4096u);
}

}  // namespace
}  // namespace small_fft_test
