// SPDX-License-Identifier: Apache-2.0
// Converts the transform of a real line's sample pairs to the line's half spectrum, and back, for some of its
// columns.
#pragma once

#include <cstdint>

#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Columns of an array of rows × width values: those from `first` on and, as the second half of `columns`,
/// their mirror images width − first − columns/2 + 1 … width − first.
struct MirroredColumns {
  std::int64_t rows = 1, columns = 2, first = 1, width = 3;
};

/// X[k] = E + w^k·O and X[h − k] = conj(E − w^k·O), w = exp(−πi/h), h = rows·width; times `scale`.
template <class Real>
void launch_unpack_real(Complex<Real>* values, const MirroredColumns& columns, double scale, Stream stream);
/// The reverse; the result is twice as large.
template <class Real>
void launch_pack_real(Complex<Real>* values, const MirroredColumns& columns, Stream stream);

}  // namespace sfft::detail::cuda
