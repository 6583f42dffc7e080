// SPDX-License-Identifier: Apache-2.0
// The exchange between devices: one kernel stores rows into the memory of several devices.
#pragma once

#include <cstdint>

#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Rows of `width` values that begin the given pitches apart. `to` is memory that the device can access: its
/// local memory, a peer's, or page-locked host memory.
template <class Real>
struct ExchangePiece {
  const Complex<Real>* from = nullptr;
  Complex<Real>* to = nullptr;
  std::int64_t from_pitch = 0, to_pitch = 0, width = 0, rows = 0;
};

/// Processes the pieces in parallel, so that all links are busy at the same time; multiplies each value by
/// `scale`. `blocks`: thread blocks in total; few of them leave the GPU to concurrent transforms.
template <class Real>
void launch_exchange(const ExchangePiece<Real>* pieces, std::size_t count, double scale, int blocks,
                     Stream stream);

}  // namespace sfft::detail::cuda
