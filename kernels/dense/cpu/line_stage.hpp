// SPDX-License-Identifier: Apache-2.0
// The two kinds of passes of the built-in engine over a signal: along rows and across them.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/cpu/small_fft/small_fft.hpp"
#include "kernels/cpu/stages/layout.hpp"
#include "kernels/cpu/stages/short_lines.hpp"
#include "kernels/runtime/memory_budget.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

/// The four buffers of a SmallFft within a workspace.
template <class Real>
class SplitWorkspace {
 public:
  /// The total size, in reals, of four buffers of `reals` each. The buffers begin at different page offsets;
  /// otherwise they would compete for the same sets of the L1 cache.
  static std::size_t total(std::size_t reals) { return 4 * padded(reals); }
  SplitWorkspace(std::byte* workspace, std::size_t reals);

  /// Transforms re, im. On return they point to the result. The inverse exchanges real and imaginary parts.
  void transform(const cpu::SmallFft<Real>& fft, bool inverse);

  Real *re, *im, *other_re, *other_im;

 private:
  static std::size_t padded(std::size_t reals) { return (reals + 31) / 16 * 16; }
};

/// Splits `count` elements of `type` into real and imaginary parts. The imaginary parts of real elements are
/// zero.
template <class Real>
void split_elements(const void* from, ElementType type, std::int64_t count, Real* re, Real* im);

/// Prefetches lines that will be written in no particular order. Hardware prefetchers follow only consecutive
/// lines.
template <class Real>
void prefetch_for_writing(const std::complex<Real>* values, std::int64_t count);

/// The number of columns whose four buffers of n × columns fit in an L1 cache, in whole cache lines. It is at
/// least two, even if the buffers then only fit in the L2 cache.
template <class Real>
std::int64_t columns_in_cache(std::int64_t n, std::int64_t inner);

/// FFTs along contiguous rows of n values. The rows of a real signal become half spectra, computed from n/2
/// pairs if n is even.
template <class Real>
class RowStage {
 public:
  RowStage(std::int64_t n, bool real);

  std::size_t workspace_reals() const noexcept { return SplitWorkspace<Real>::total(fft_.buffer_reals()); }
  std::int64_t spectrum_points() const noexcept { return real_ ? n_ / 2 + 1 : n_; }
  void forward(const void* row, ElementType type, std::complex<Real>* spectrum, std::byte* workspace) const;
  void inverse(const std::complex<Real>* spectrum, std::complex<Real>* row, Real scale,
               std::byte* workspace) const;
  void inverse(const std::complex<Real>* spectrum, Real* row, Real scale, std::byte* workspace) const;

 private:
  bool paired() const noexcept { return real_ && n_ % 2 == 0; }

  std::int64_t n_;
  bool real_;
  cpu::SmallFft<Real> fft_;
  cpu::ShortLines<Real> short_ = nullptr, short_back_ = nullptr;  ///< for rows that stay in registers
  bool reads_ = false, writes_ = false;      ///< whether its first and last pass handle complex values
  CountedVector<Real> roots_re_, roots_im_;  ///< for unpacking
};

/// FFTs of length n across rows of `columns` complex values, whose starts are `pitch` values apart. Works in
/// blocks of columns that stay in cache.
template <class Real>
class ColumnStage {
 public:
  ColumnStage(std::int64_t n, std::int64_t columns) : ColumnStage(n, columns, columns) {}
  ColumnStage(std::int64_t n, std::int64_t columns, std::int64_t pitch);

  std::size_t workspace_reals() const noexcept { return SplitWorkspace<Real>::total(buffer_reals_); }
  std::int64_t blocks() const noexcept { return blocks_; }
  /// A function called on results while they are in cache: n rows of columns first … first + count − 1.
  using Finish = std::function<void(std::int64_t first, std::int64_t count, Real* re, Real* im)>;
  /// Transforms one block of the n rows from `from` to `to`, which may be the same array. Blocks may run
  /// concurrently, each with its own workspace.
  void block(std::int64_t block, const std::complex<Real>* from, std::complex<Real>* to, bool inverse,
             std::byte* workspace, const Finish& finish = nullptr) const;
  /// The same, with a transposed result: column c becomes n contiguous values at to + c·n. `to` must be a
  /// different array.
  void transposed_block(std::int64_t block, const std::complex<Real>* from, std::complex<Real>* to,
                        bool inverse, std::byte* workspace, const Finish& finish) const;
  /// Transforms all blocks.
  void transform(const std::complex<Real>* from, std::complex<Real>* to, bool inverse,
                 std::byte* workspace) const;

  /// The number of columns of a block. The block begins at column block · columns_of(0).
  std::int64_t columns_of(std::int64_t block) const noexcept {
    return block + 1 < blocks_ ? block_ : columns_ - block * block_;
  }
  /// The steps of block() and transposed_block(). Here `from` and `to` point directly to the first column,
  /// which need not be that of the block.
  SplitWorkspace<Real> split(std::byte* workspace) const { return {workspace, buffer_reals_}; }
  void load(std::int64_t block, const std::complex<Real>* from, const SplitWorkspace<Real>& split) const;
  void transform(std::int64_t block, bool inverse, SplitWorkspace<Real>& split) const;
  void store(std::int64_t block, const SplitWorkspace<Real>& split, std::complex<Real>* to) const;
  void store_transposed(std::int64_t block, const SplitWorkspace<Real>& split, std::complex<Real>* to) const;

 private:
  std::int64_t n_, columns_, pitch_, block_;
  std::int64_t blocks_;
  std::unique_ptr<const cpu::SmallFft<Real>> full_, last_;  ///< for blocks of block_ columns, and for the
                                                            ///< last block
  std::size_t buffer_reals_ = 0;
};

extern template void split_elements(const void*, ElementType, std::int64_t, float*, float*);
extern template void split_elements(const void*, ElementType, std::int64_t, double*, double*);
extern template void prefetch_for_writing(const std::complex<float>*, std::int64_t);
extern template void prefetch_for_writing(const std::complex<double>*, std::int64_t);
extern template std::int64_t columns_in_cache<float>(std::int64_t, std::int64_t);
extern template std::int64_t columns_in_cache<double>(std::int64_t, std::int64_t);
extern template class SplitWorkspace<float>;
extern template class SplitWorkspace<double>;
extern template class RowStage<float>;
extern template class RowStage<double>;
extern template class ColumnStage<float>;
extern template class ColumnStage<double>;

}  // namespace sfft::detail
