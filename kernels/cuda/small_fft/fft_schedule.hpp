// SPDX-License-Identifier: Apache-2.0
// Lays out the passes (fft_pass.hpp) of a small grid, with their twiddles.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "kernels/cuda/small_fft/fft_pass.hpp"

namespace sfft::detail::cuda {

struct FftTables {
  FftSchedule schedule;
  std::vector<std::complex<double>> table;
};

/// Radices with a butterfly in registers (kernels/base/radix/butterfly.hpp); others are summed directly.
bool has_butterfly(int radix) noexcept;

/// `grid` holds `rank` extents, slowest first; at most 2^20 points. With `load_first` the first pass has
/// radix 1: each thread loads one point.
FftTables make_schedule(const std::int64_t* grid, int rank, bool load_first = false);

}  // namespace sfft::detail::cuda
