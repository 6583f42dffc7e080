// SPDX-License-Identifier: Apache-2.0
// The host's passes over real out-of-core arrays, before and after a complex transform. Rows of even length
// are treated as rows of complex values, each a pair of samples; rows of odd length as complex rows of the
// same length.
#pragma once

#include <complex>
#include <cstdint>

#include "kernels/base/root_table.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

namespace cpu {
class ThreadPool;
}

/// Contiguous real signals in rows that begin `pitch` samples apart, and their half spectra in rows of n/2 +
/// 1 values. Passes run on the threads of a pool, or on the caller's thread if there is none.
template <class Real>
class RealPasses {
 public:
  RealPasses(const Shape& shape, std::int64_t batch, std::int64_t pitch);

  std::int64_t rows() const noexcept { return batch_ * rows_; }
  bool even() const noexcept { return n_ % 2 == 0; }

  /// For even rows: copies samples to the beginnings of rows of spectra, unless they are there already, and
  /// zeros the rest.
  void spread(const Real* signals, std::complex<Real>* spectra, cpu::ThreadPool* pool) const;
  /// Converts the transform of sample pairs, in rows of n/2 values that begin n/2 + 1 apart, to half spectra,
  /// in place.
  void unpack_real(std::complex<Real>* spectra, Real scale, cpu::ThreadPool* pool) const;
  /// The inverse of unpack_real(), into rows that begin `pitch` values apart; in place if that is n/2 + 1.
  /// The result of the inverse transform is not normalised.
  void pack_real(const std::complex<Real>* spectra, std::complex<Real>* pairs, std::int64_t pitch,
                 cpu::ThreadPool* pool) const;

  /// For odd rows. widen() and narrow() convert samples to complex values and back; halve() and mirror()
  /// convert complete spectra to half spectra and back.
  void widen(const Real* signals, std::complex<Real>* whole, cpu::ThreadPool* pool) const;
  void narrow(const std::complex<Real>* whole, Real* signals, cpu::ThreadPool* pool) const;
  void halve(const std::complex<Real>* whole, std::complex<Real>* spectra, Real scale,
             cpu::ThreadPool* pool) const;
  void mirror(const std::complex<Real>* spectra, std::complex<Real>* whole, cpu::ThreadPool* pool) const;

 private:
  template <class Job>
  void over_rows(cpu::ThreadPool* pool, const Job& job) const;
  template <class Job>
  void over_pairs(cpu::ThreadPool* pool, const Job& job) const;
  /// The row of the opposite frequencies.
  std::int64_t opposite(std::int64_t row) const noexcept;

  std::int64_t planes_, columns_, rows_, n_, batch_, pitch_;
  RootTable root_;  ///< exp(−2πi·k/n)
};

extern template class RealPasses<float>;
extern template class RealPasses<double>;

}  // namespace sfft::detail
