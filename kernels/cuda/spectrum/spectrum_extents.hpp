// SPDX-License-Identifier: Apache-2.0
// The extents of a stored double-precision spectrum, as kernels take them.
#pragma once

#include <cstdint>

#include "kernels/base/math/portable.hpp"

namespace sfft::detail::cuda {

/// Row-major, slowest first, padded to three dimensions with leading extents of 1. `half`: the spectrum of a
/// real signal, whose last dimension is stored up to n/2.
struct SpectrumExtents {
  std::int64_t n[3];
  bool half;

  SFFT_HOST_DEVICE std::int64_t rows() const noexcept { return n[0] * n[1]; }
  SFFT_HOST_DEVICE std::int64_t row_points() const noexcept { return half ? n[2] / 2 + 1 : n[2]; }
  SFFT_HOST_DEVICE std::int64_t points() const noexcept { return rows() * row_points(); }
};

}  // namespace sfft::detail::cuda
