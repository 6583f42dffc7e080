// SPDX-License-Identifier: Apache-2.0
// The FFT of a long 1D signal in two passes over memory, for readers that consume its coefficients while they
// are in cache, in the FFT's output order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cpu/small_fft/small_fft.hpp"
#include "kernels/cpu/small_fft/small_fft_line.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

/// Whether n is a product of two factors near its square root, without large prime factors. False for small
/// n, for which two passes do not pay off.
bool two_pass_possible(std::int64_t n);

/// With N = rows × columns, t = columns t1 + t2 and f = f1 + rows f2 (Gentleman and Sande 1966; Bailey 1990):
///   X[f] = Σ_t2 w_columns^(f2 t2) · w_N^(f1 t2) · Σ_t1 w_rows^(f1 t1) x[t].
/// A part of the first pass has a few t2; a group of the second pass has eight f1. A real signal needs only
/// the rows f1 <= rows/2; the others are their conjugates. Immutable, thread-safe.
template <class Real>
class TwoPassFft {
 public:
  TwoPassFft(std::int64_t n, bool real);
  /// For complex signals. The caller chooses the factors, which must be multiples of kTwoPassLanes.
  TwoPassFft(std::int64_t rows, std::int64_t columns);

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t columns() const noexcept { return columns_; }
  std::int64_t parts() const noexcept;   ///< of the first pass
  std::int64_t groups() const noexcept;  ///< of the second pass
  /// Reals between the passes, and scratch reals per call. Both arrays must be 64-byte aligned.
  std::size_t intermediate_reals() const noexcept;
  std::size_t scratch_reals() const noexcept;

  /// Runs one part of the first pass. Every part must be done before the first group. Parts may run
  /// concurrently, and so may groups, each with its own scratch memory. `signal` holds N contiguous elements
  /// of `type`. The inverse of a complex signal exchanges real and imaginary parts here and in the results of
  /// second().
  void first(std::int64_t part, const void* signal, ElementType type, Real* intermediate, Real* scratch,
             bool inverse = false) const;

  /// The same for a part of eight columns in memory: element c of row r is at [8 r + c]. Overwrites `part`
  /// and `other`, which have 8 rows() values each.
  void first_of(std::int64_t column, const cpu::SplitBuffers<Real>& part, Real* intermediate) const;

  /// The coefficients of frequency first_row + r + rows() f2 at [8 f2 + r], in memory that the caller may
  /// overwrite. Those with r < repeated were also in the previous group.
  struct Group {
    Real *re, *im;
    std::int64_t first_row;
    int repeated;
  };
  Group second(std::int64_t group, Real* intermediate, Real* scratch) const;

 private:
  TwoPassFft(std::int64_t rows, std::int64_t columns, bool real);
  /// Real and imaginary parts of eight roots w_N^(row × column), for eight columns.
  void roots(std::int64_t row, std::int64_t first_column, Real* to) const;
  /// Stores the columns multiplied by their roots, except the first `skipped` ones.
  void turn(const Real* re, const Real* im, std::int64_t first_column, std::int64_t skipped,
            Real* intermediate) const;
  std::int64_t group_start(std::int64_t group) const noexcept;

  std::int64_t n_, rows_, columns_;
  bool real_;
  std::int64_t kept_rows_;     ///< rows of the second pass
  std::int64_t plane_reals_;   ///< reals of one group
  std::int64_t buffer_reals_;  ///< one of the four buffers of the first pass
  std::shared_ptr<const cpu::SmallFft<Real>> across_, along_;
  // w_N^m = coarse_[m >> shift_] × fine_[m mod 2^shift_].
  int shift_;
  std::vector<double> coarse_re_, coarse_im_, fine_re_, fine_im_;
};

extern template class TwoPassFft<float>;
extern template class TwoPassFft<double>;

}  // namespace sfft::detail
