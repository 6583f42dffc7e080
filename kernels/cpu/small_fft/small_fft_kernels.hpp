// SPDX-License-Identifier: Apache-2.0
// The hot loops of the small FFT: one Stockham pass each, chosen by radix and run length.
#pragma once

#include <cstdint>

#include "kernels/cpu/platform/isa.hpp"

namespace sfft::detail::cpu {

/// One decimation-in-frequency Stockham pass (Van Loan 1992, 1.7) of radix R over split complex arrays:
///   y[q + s (R p + j)] = w^(p j) Σ_k x[q + s (p + m k)] exp(-2 pi i jk/R),  w = exp(-2 pi i/(m R)),
/// for p < m, q < s, j < R. x and y do not overlap. The layout of `roots` depends on the kind of kernel (see
/// SmallFftKernels).
template <class Real>
using Pass = void (*)(const Real* xr, const Real* xi, Real* yr, Real* yi, std::int64_t m, std::int64_t s,
                      std::int64_t radix, const Real* roots);

/// A pass of level 0 that reads or writes rows of interleaved complex values. Value q of row p + m k of the
/// input is at x + p x_row + k x_step + q (two reals each if complex), output j of row p at y + p y_row + j
/// y_step + q. Complex output is multiplied by `scale`; its very first row begins at y_first.
template <class Real>
struct ComplexPass {
  const Real *xr, *xi;
  std::int64_t x_row, x_step;
  Real *yr, *yi, *y_first;
  std::int64_t y_row, y_step;
  std::int64_t m, s;
  const Real* roots;  ///< as for `wide`
  Real scale;
  std::int64_t ahead;  ///< how many rows p ahead the pass prefetches
};

constexpr int kMaxRadix = 16;     ///< largest radix with a dedicated kernel
constexpr int kMaxOddRadix = 61;  ///< largest prime of the generic odd pass
constexpr int kLevels = 4;        ///< vector widths: full, half, quarter, scalar
constexpr int kMaxNarrow = 8;

template <class Real>
struct SmallFftKernels {
  /// Reals per vector at each level; a kernel of level l needs s >= level_reals[l].
  std::int64_t level_reals[kLevels];
  /// Runs of s reals at a time. Roots: w^(p j) as (re, im) for j = 1 … R-1, p after p.
  Pass<Real> wide[kLevels][kMaxRadix + 1];
  /// The same for m = 1; no roots.
  Pass<Real> last[kLevels][kMaxRadix + 1];
  /// A first pass with roots that reads complex values; a last pass that writes them; a single pass that does
  /// both.
  void (*from_complex[kMaxRadix + 1])(const ComplexPass<Real>& pass);
  void (*to_complex[kMaxRadix + 1])(const ComplexPass<Real>& pass);
  void (*all_complex[kMaxRadix + 1])(const ComplexPass<Real>& pass);
  /// Any odd radix. Roots: cosines, then sines of 2 pi k/R for k = 0 … (R-1)/2, then as for `wide`.
  Pass<Real> odd[kLevels];
  /// Short runs: narrow[s][R] takes narrow_group[s] values of p at a time; needs m s >= level_reals[0].
  /// Roots: group after group, and for j = 1 … R-1 of a group one vector of re and one of im. The vector of
  /// group g starts at element min(g narrow_group[s] s, m s - level_reals[0]) of the m s.
  Pass<Real> narrow[kMaxNarrow + 1][kMaxRadix + 1];
  std::int64_t narrow_group[kMaxNarrow + 1];
  /// Like narrow[1][R], but reads complex values at xr; xi is unused. Null where it would be slower than two
  /// steps.
  Pass<Real> narrow_from_complex[kMaxRadix + 1];
  /// y[r*y_stride + l] = factor[r] x[r*x_stride + l] for r < rows, l < columns; x = y is allowed.
  void (*modulate)(const Real* xr, const Real* xi, std::int64_t x_stride, Real* yr, Real* yi,
                   std::int64_t y_stride, std::int64_t rows, std::int64_t columns, const Real* factor_re,
                   const Real* factor_im);
  /// y[c*rows + r] = x[r*columns + c] for r < rows, c < columns.
  void (*transpose)(const Real* x, std::int64_t rows, std::int64_t columns, Real* y);
};

/// The kernels for `isa`, or for the machine's best instruction set if that one is lower.
template <class Real>
const SmallFftKernels<Real>& small_fft_kernels(Isa isa) noexcept;
template <>
const SmallFftKernels<float>& small_fft_kernels<float>(Isa isa) noexcept;
template <>
const SmallFftKernels<double>& small_fft_kernels<double>(Isa isa) noexcept;

}  // namespace sfft::detail::cpu
