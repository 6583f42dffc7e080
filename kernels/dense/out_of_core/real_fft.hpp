// SPDX-License-Identifier: Apache-2.0
// Real transforms of arrays in host memory that exceed the usable device memory. Where rounds cannot
// transform real rows, a complex transform runs between two passes of the host. These treat rows of even
// length as rows of complex values, each a pair of samples, and rows of odd length as complex rows of the
// same length.
#pragma once

#include <array>
#include <complex>
#include <string>

#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/dense/out_of_core/out_of_core_fft.hpp"

namespace sfft::detail {

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

/// Rows are transformed to half spectra and back in place, in the first round of forward calls and the last
/// round of inverse ones. In two cases this is not possible.
/// The first case is inverse calls of several rounds into signals without gaps, which have no room for half
/// spectra between the rounds. A host pass then packs rows of even length into half as many complex pairs;
/// rows of odd length are transformed in another array.
/// The second case is lines that are divided. Both directions handle them in the same way, except for a
/// single line of even length that is transformed out of place.
template <class Real>
class OutOfCoreRealFft final : public OutOfCorePlan {
 public:
  /// Rows of the signals begin `pitch` samples apart. This is the row length or, in place, the room that half
  /// spectra need. Throws what OutOfCoreFft throws.
  OutOfCoreRealFft(const Shape& shape, std::int64_t batch, std::int64_t pitch,
                   const OutOfCoreDevices& devices, const OutOfCoreOptions& options);

  std::int64_t workspace_bytes() const noexcept override;
  void forward(const void* signals, void* spectra, double scale, std::byte* workspace) const override;
  void inverse(const void* spectra, void* signals, double scale, std::byte* workspace) const override;
  void measure() override;
  std::vector<double> host_shares() const override { return first().host_shares(); }
  void set_host_shares(const std::vector<double>& shares) override;
  std::string explain() const override;
  /// Times of the rounds, preceded and followed by those of the host's passes if there are any. Predictions
  /// are for forward calls.
  std::vector<RoundTimes> measured() const override;
  std::vector<RoundTimes> predicted() const override;
  std::string name() const override { return first().name(); }

 private:
  using Fft = OutOfCoreFft;
  using Value = std::complex<Real>;
  /// Times of the host's passes in microseconds.
  struct PassTimes {
    double before = 0, after = 0;
  };

  /// Makes the plans that calls will use.
  void plan(const OutOfCoreDevices& devices, OutOfCoreOptions options);
  void plan_rows(const OutOfCoreDevices& devices, const OutOfCoreOptions& options);
  bool even() const noexcept { return row_ % 2 == 0; }
  /// Whether rows of samples have the pitch that the rounds need.
  bool padded() const noexcept { return pitch_ == 2 * (row_ / 2 + 1); }
  /// The plan that forward calls run first.
  const Fft& first() const noexcept {
    return rows_ != nullptr ? *rows_ : line_ != nullptr ? *line_ : *divided_;
  }
  std::array<const Fft*, 4> plans() const noexcept {
    return {rows_.get(), line_.get(), divided_.get(), tight_.get()};
  }
  void plan_line(const OutOfCoreDevices& devices, const OutOfCoreOptions& options);
  void assume_passes();
  void measure_passes();
  /// Frees the device memory of the other plans, because only one plan may have some at a time.
  void release_others(const Fft& fft) const;

  Shape shape_;
  std::int64_t batch_, pitch_, row_;
  int threads_;
  RealPasses<Real> passes_;
  std::int64_t whole_points_;
  std::unique_ptr<Fft> rows_;     ///< real rounds; null if rows are divided
  std::unique_ptr<Fft> line_;     ///< for a single divided line, out of place
  std::unique_ptr<Fft> divided_;  ///< other lines: pairs in half spectra; odd rows: full spectra
  std::unique_ptr<Fft> tight_;    ///< inverse, pairs in signals without gaps; null if other plans do that
  PassTimes expected_;            ///< for a forward call
  bool profiled_ = false;
  mutable std::mutex mutex_;  ///< guards the members below, and the device memory
  mutable std::vector<RoundTimes> measured_;
  mutable std::string last_;  ///< what explain() says about the last call
  mutable cpu::PoolCache pools_;
};

extern template class RealPasses<float>;
extern template class RealPasses<double>;
extern template class OutOfCoreRealFft<float>;
extern template class OutOfCoreRealFft<double>;

}  // namespace sfft::detail
