// SPDX-License-Identifier: Apache-2.0
// Makes spectrum extents from shapes, in host code.
#pragma once

#include "kernels/cuda/spectrum/spectrum_extents.hpp"
#include "sfft/types.hpp"

namespace sfft::detail::cuda {

/// `half`: for the half spectrum of a real signal.
inline SpectrumExtents extents_of(const Shape& shape, bool half) {
  SpectrumExtents extents{{1, 1, 1}, half};
  for (int d = 0; d < shape.rank(); ++d) extents.n[3 - shape.rank() + d] = shape[d];
  return extents;
}

}  // namespace sfft::detail::cuda
