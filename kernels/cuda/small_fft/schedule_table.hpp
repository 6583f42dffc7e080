// SPDX-License-Identifier: Apache-2.0
// Makes a schedule without its table, for callers whose kernels compute the entries. On the host, the entries
// take longer than everything else.
#pragma once

#include "kernels/base/math/portable.hpp"
#include "kernels/cuda/small_fft/fft_schedule.hpp"

namespace sfft::detail::cuda {

/// Like make_schedule(), but takes microseconds.
FftSchedule lay_out_schedule(const std::int64_t* grid, int rank, bool load_first = false);

/// exp(−2πi turns/order); 0 <= turns < order.
struct TableRoot {
  int turns, order;
};

/// The given entry (0 … table_size − 1) of a schedule's table.
SFFT_HOST_DEVICE TableRoot table_root(const FftSchedule& schedule, int entry) noexcept {
  for (int i = 0; i < schedule.passes; ++i) {
    const FftPass& pass = schedule.pass[i];
    const int twiddle = entry - pass.twiddles;
    if (pass.twiddles >= 0 && twiddle >= 0 && twiddle < (pass.radix - 1) * pass.m)
      return {(twiddle / pass.m + 1) * (twiddle % pass.m), pass.radix * pass.m};
    const int root = entry - pass.roots;
    if (pass.roots >= 0 && root >= 0 && root < pass.radix) return {root, pass.radix};
  }
  return {0, 1};
}

}  // namespace sfft::detail::cuda
