// SPDX-License-Identifier: Apache-2.0
// Factors between the two transforms of a long line.
#pragma once

#include <cstdint>

#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Row k and column c of rows × columns values are multiplied by scale·exp(∓2πi·k·((first_column +
/// c)/element)/length); if length is 0, by the scale alone. k·c does not exceed the length.
struct ColumnFactors {
  std::int64_t rows = 1, columns = 1, first_column = 0;
  std::int64_t length = 0, element = 1;
  bool inverse = false;
  double scale = 1;
  /// If not 0, the second half of the columns mirrors the first, from mirrored_width − first_column down.
  std::int64_t mirrored_width = 0;
};

template <class Real>
void launch_multiply(Complex<Real>* values, const ColumnFactors& factors, Stream stream);
/// As above, but transposed into other memory: value k of column c goes to to[c·rows + k].
template <class Real>
void launch_multiply_transposed(const Complex<Real>* values, const ColumnFactors& factors, Complex<Real>* to,
                                Stream stream);

}  // namespace sfft::detail::cuda
