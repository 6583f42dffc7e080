// SPDX-License-Identifier: Apache-2.0
// A view of a signal in GPU memory.
#pragma once

#include "kernels/base/types.hpp"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace sfft {

/// A contiguous, row-major signal in GPU memory. The view owns nothing.
struct DeviceSignal {
  const void* data;  ///< shape.points() elements: memory of `device`, managed, or page-locked
  /// Type of one element.
  ElementType type;
  /// Extents in elements.
  Shape shape;
  int device = 0;                 ///< device number, as the driver counts
  CUstream_st* stream = nullptr;  ///< a cudaStream_t of `device`; null is its legacy default stream
};

}  // namespace sfft
