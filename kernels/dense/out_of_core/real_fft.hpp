// SPDX-License-Identifier: Apache-2.0
// Real transforms of arrays in host memory that exceed the usable device memory. Where rounds cannot
// transform real rows, a complex transform runs between two passes of the host.
#pragma once

#include <array>
#include <string>

#include "kernels/dense/out_of_core/out_of_core_fft.hpp"
#include "kernels/dense/out_of_core/real_passes.hpp"

namespace sfft::detail {

/// Rows are transformed to half spectra and back in place, in the first round of forward calls and the last
/// round of inverse ones. In two cases this is not possible.
/// The first case is inverse calls of several rounds into signals without gaps, which have no room for half
/// spectra between the rounds. A host pass then packs rows of even length into half as many complex pairs;
/// rows of odd length are transformed in another array.
/// The second case is lines that are divided. Both directions handle them in the same way, except for a
/// single line of even length that is transformed out of place.
template <class Real>
class OutOfCoreRealFft final : public OutOfCorePlan<Real> {
 public:
  /// Rows of the signals begin `pitch` samples apart. This is the row length or, in place, the room that half
  /// spectra need. Throws what OutOfCoreFft throws.
  OutOfCoreRealFft(const Shape& shape, std::int64_t batch, std::int64_t pitch,
                   const OutOfCoreDevices<Real>& devices, const OutOfCoreOptions& options);

  std::size_t workspace_bytes() const noexcept override;
  void forward(const void* signals, std::complex<Real>* spectra, Real scale,
               std::byte* workspace) const override;
  void inverse(const std::complex<Real>* spectra, void* signals, Real scale,
               std::byte* workspace) const override;
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
  using Fft = OutOfCoreFft<Real>;
  /// Times of the host's passes in microseconds.
  struct PassTimes {
    double before = 0, after = 0;
  };

  /// Makes the plans that calls will use.
  void plan(const OutOfCoreDevices<Real>& devices, OutOfCoreOptions options);
  void plan_rows(const OutOfCoreDevices<Real>& devices, const OutOfCoreOptions& options);
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
  void plan_line(const OutOfCoreDevices<Real>& devices, const OutOfCoreOptions& options);
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

extern template class OutOfCoreRealFft<float>;
extern template class OutOfCoreRealFft<double>;

}  // namespace sfft::detail
