// SPDX-License-Identifier: Apache-2.0
// Stage "small FFT": multirow complex FFTs of the bucket grid, in split (re, im) layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/cpu/platform/isa.hpp"

namespace sfft::detail::cpu {

template <class Real>
class LineFft;

/// Forward FFTs of `grid` (1 to 3 extents, slowest first) for `lanes` interleaved transforms. re and im hold
/// ∏grid × lanes reals each, lane fastest: element m of transform l at [m*lanes + l]. Unnormalised, with the
/// sign of exp(-2 pi i). Takes any extents >= 1: Stockham passes with radices up to 16 and odd radices up to
/// 61, Bluestein for lengths with larger prime factors. Immutable, thread-safe; execute() never allocates.
template <class Real>
class SmallFft {
 public:
  SmallFft(std::span<const std::int64_t> grid, std::int64_t lanes);
  /// Uses at most this instruction set.
  SmallFft(std::span<const std::int64_t> grid, std::int64_t lanes, Isa isa);
  ~SmallFft();
  SmallFft(SmallFft&&) noexcept;
  SmallFft& operator=(SmallFft&&) noexcept;

  /// The number of reals that each of execute()'s four buffers holds; 64-byte aligned buffers are faster.
  std::size_t buffer_reals() const noexcept;
  /// Transforms (re, im). (scratch_re, scratch_im) have the same size and overlap nothing; both pairs are
  /// overwritten. Returns true if the result is in scratch, false if it is in (re, im). This is the same for
  /// every call; result_in_scratch() returns it in advance.
  bool execute(Real* re, Real* im, Real* scratch_re, Real* scratch_im) const;
  bool result_in_scratch() const noexcept;
  /// The FFT along the slowest dimension.
  const LineFft<Real>& line() const noexcept;

  /// Two halves of execute(), so that a row is transformed while it is in cache. slab() transforms all
  /// dimensions but the first for index m1 of the first (slowest) dimension; columns() then transforms the
  /// first dimension. For one dimension, slab() does nothing. execute() == slab(0) … slab(grid[0]-1),
  /// columns(). Slabs of the same buffers share the space after the grid, so they must not run at the same
  /// time.
  void slab(std::int64_t m1, Real* re, Real* im, Real* scratch_re, Real* scratch_im) const;
  bool columns(Real* re, Real* im, Real* scratch_re, Real* scratch_im) const;

  /// Approximate floating-point operations of one execute().
  double flops() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

extern template class SmallFft<float>;
extern template class SmallFft<double>;

}  // namespace sfft::detail::cpu
