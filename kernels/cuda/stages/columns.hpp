// SPDX-License-Identifier: Apache-2.0
// What the rounds of out-of-core transforms do to columns: factors between the two transforms of a long line,
// and half spectra of real lines.
#pragma once

#include <cstdint>

#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Factors between the two transforms of a long line. Row k and column c of rows × columns values are
/// multiplied by scale·exp(∓2πi·k·((first_column + c)/element)/length); if length is 0, by the scale alone.
/// k·c does not exceed the length.
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

/// For the transform of a real line's sample pairs, which becomes the line's half spectrum, or the reverse.
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
