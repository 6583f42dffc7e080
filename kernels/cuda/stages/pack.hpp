// SPDX-License-Identifier: Apache-2.0
// Copies between signals of any element type and strides and the contiguous, padded or strided arrays that
// FFT libraries take, with a factor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// A grid of elements, slowest axis first. The distances between neighbours on the input and output side are
/// in elements. Axes of extent 1 are allowed.
struct CopyGrid {
  static constexpr int kAxes = 4;  ///< a batch of three dimensions
  std::int64_t extents[kAxes] = {1, 1, 1, 1};
  std::int64_t from[kAxes] = {0, 0, 0, 0};
  std::int64_t to[kAxes] = {0, 0, 0, 0};
};

/// Rows of `points` neighbours, `from` and `to` elements from one row's start to the next.
inline CopyGrid copy_rows(std::int64_t rows, std::int64_t points, std::int64_t from, std::int64_t to) {
  return {{1, 1, rows, points}, {0, 0, from, 1}, {0, 0, to, 1}};
}

/// to[…] = factor · from[…]. `to_type`: f32, f64, c64 or c128; real elements become complex with zero
/// imaginary part, complex ones cannot become real. The arrays may be the same memory if strides and
/// types agree.
void launch_copy(const CopyGrid& grid, const void* from, Element from_type, void* to, Element to_type,
                 double factor, Stream stream);

/// As sfft::DevicePlane.
struct LumaPlane {
  const void* data;
  std::int64_t width, height, pitch_bytes;
  int bits, shift;
  bool limited_range;
};

/// Converts pitched luma from a hardware decoder to a contiguous frame of full range. Writes u8 samples, or
/// u16 for more than 8 bits.
void launch_luma(const LumaPlane& plane, std::byte* to, Stream stream);

}  // namespace sfft::detail::cuda
