// SPDX-License-Identifier: Apache-2.0
// Tests the small FFT of the GPU against a direct sum in double.
#include "kernels/cuda/small_fft/small_fft.hpp"

#include "tests/support/direct_dft.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::detail::cuda::small_fft_cuda_test {
namespace {

class SmallFftCuda : public test::GpuTest {};

template <class Real>
void compare(const std::vector<std::int64_t>& grid, std::int64_t count, std::size_t shared_limit) {
  std::int64_t points = 1;
  for (const std::int64_t extent : grid) points *= extent;
  std::vector<std::complex<double>> truth;
  std::vector<Complex<Real>> input;
  for (std::int64_t c = 0; c < count; ++c) {
    const auto x = test::random_signal(static_cast<std::size_t>(points), static_cast<unsigned>(7 + c));
    for (const auto& z : x) input.push_back({static_cast<Real>(z.real()), static_cast<Real>(z.imag())});
    const auto y = test::direct_dft(x, grid);
    truth.insert(truth.end(), y.begin(), y.end());
  }
  const SmallFft<Real> fft(grid.data(), static_cast<int>(grid.size()), shared_limit);
  test::OnDevice<Complex<Real>> data(input), scratch(input.size());
  const Complex<Real>* result = fft.execute(data.get(), scratch.get(), count, nullptr);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const auto got = (result == data.get() ? data : scratch).read();
  std::vector<std::complex<double>> values;
  for (const auto& z : got) values.emplace_back(z.re, z.im);
  std::string name;
  for (const std::int64_t extent : grid) name += std::to_string(extent) + " ";
  EXPECT_LE(test::relative_l2(values, truth), test::fft_bound<Real>(static_cast<double>(points)))
      << name << "x " << count << (sizeof(Real) == 4 ? " float" : " double");
}

TEST_F(SmallFftCuda, EqualsADirectSum) {
  const std::size_t limit = device_info(0).shared_bytes_per_block;
  const std::vector<std::vector<std::int64_t>> grids{
      {1},     {2},      {3},      {7},       {8},       {11},      {12},         {13},
      {15},    {16},     {17},     {31},      {32},      {60},      {64},         {97},
      {100},   {127},    {128},    {192},     {240},     {256},     {360},        {500},
      {512},   {1000},   {1021},   {1024},    {2000},    {2048},    {2187},       {4096},
      {5000},  {1, 8},   {8, 1},   {2, 3},    {9, 16},   {12, 12},  {54, 96},     {72, 96},
      {7, 11}, {17, 16}, {45, 80}, {3, 4, 5}, {8, 8, 8}, {1, 1, 6}, {16, 15, 14}, {2, 1, 9}};
  for (const auto& grid : grids) {
    compare<float>(grid, 1, limit);
    compare<float>(grid, 5, limit);
    compare<double>(grid, 3, limit);
  }
}

TEST_F(SmallFftCuda, StepsWhereAGridDoesNotFitABlock) {
  constexpr std::size_t kLittle = 40 << 10;
  for (const auto& grid : std::vector<std::vector<std::int64_t>>{
           {4096}, {6000}, {8192}, {16384}, {10080}, {64, 64}, {54, 96}, {90, 160}, {16, 16, 16}}) {
    compare<float>(grid, 1, kLittle);
    compare<float>(grid, 3, kLittle);
    compare<double>(grid, 2, kLittle);
  }
}

TEST_F(SmallFftCuda, LongLinesInTwoSteps) {
  const std::size_t limit = device_info(0).shared_bytes_per_block;
  // A direct sum over this many points is slow, so the signal is one tone, whose transform is known.
  for (const std::int64_t n :
       {std::int64_t{1} << 15, std::int64_t{1} << 17, std::int64_t{1} << 20, std::int64_t{45000}}) {
    const std::int64_t f = n / 3 + 1;
    std::vector<Complex<float>> input;
    for (std::int64_t t = 0; t < n; ++t) {
      const auto z =
          std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(f * t % n) / static_cast<double>(n));
      input.push_back({static_cast<float>(z.real()), static_cast<float>(z.imag())});
    }
    const SmallFft<float> fft(&n, 1, limit);
    test::OnDevice<Complex<float>> data(input), scratch(input.size());
    const Complex<float>* result = fft.execute(data.get(), scratch.get(), 1, nullptr);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const auto got = (result == data.get() ? data : scratch).read();
    double error = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double expected = i == f ? static_cast<double>(n) : 0;
      const auto& z = got[static_cast<std::size_t>(i)];
      error += (z.re - expected) * (z.re - expected) + double(z.im) * z.im;
    }
    EXPECT_LE(std::sqrt(error) / static_cast<double>(n), test::fft_bound<float>(static_cast<double>(n))) << n;
  }
}

}  // namespace
}  // namespace sfft::detail::cuda::small_fft_cuda_test
