// SPDX-License-Identifier: Apache-2.0
// Real transforms of arrays in host memory that exceed what a device may use: a complex one, between passes
// of the host.
#pragma once

#include <array>
#include <string>

#include "kernels/dense/out_of_core/out_of_core_fft.hpp"
#include "kernels/dense/out_of_core/real_passes.hpp"

namespace sfft::detail {

/// Rows are transformed to half spectra and back where the data are, in the first round of forward calls and
/// the last of inverse ones. Inverse calls of several rounds into signals without gaps have no room for half
/// spectra between the rounds: rows of even length are transformed as half as many pairs after a pass of the
/// host, those of odd length in another array. So are lines that are divided, in both directions, but for a
/// single one of even length that is not transformed in place.
template <class Real>
class OutOfCoreRealFft final : public OutOfCorePlan<Real> {
 public:
  /// Rows of the signals begin `pitch` samples apart: as many as they are long, or, in place, as half spectra
  /// need. Throws what OutOfCoreFft throws.
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
  /// The rounds, where there are any between the times of the host's passes before and after them;
  /// predictions are of forward calls.
  std::vector<RoundTimes> measured() const override;
  std::vector<RoundTimes> predicted() const override;
  std::string name() const override { return first().name(); }

 private:
  using Fft = OutOfCoreFft<Real>;
  /// Microseconds of the host's passes.
  struct PassTimes {
    double before = 0, after = 0;
  };

  /// Makes those plans that calls will use.
  void plan(const OutOfCoreDevices<Real>& devices, OutOfCoreOptions options);
  void plan_rows(const OutOfCoreDevices<Real>& devices, const OutOfCoreOptions& options);
  bool even() const noexcept { return row_ % 2 == 0; }
  /// Whether forward calls find the samples where they belong.
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
  /// One of the plans has the device's memory at a time.
  void release_others(const Fft& fft) const;

  Shape shape_;
  std::int64_t batch_, pitch_, row_;
  int threads_;
  RealPasses<Real> passes_;
  std::int64_t whole_points_;
  std::unique_ptr<Fft> rows_;     ///< real rounds; null where rows are divided
  std::unique_ptr<Fft> line_;     ///< of a single line that is divided, not in place
  std::unique_ptr<Fft> divided_;  ///< of others: pairs in half spectra, or, of odd rows, whole spectra
  std::unique_ptr<Fft> tight_;    ///< inverse, pairs in signals without gaps; null where others do that
  PassTimes expected_;            ///< of a forward call
  bool profiled_ = false;
  mutable std::mutex mutex_;  ///< of the following, and of the device's memory
  mutable std::vector<RoundTimes> measured_;
  mutable std::string last_;  ///< what explain() says about the last call
  mutable cpu::PoolCache pools_;
};

extern template class OutOfCoreRealFft<float>;
extern template class OutOfCoreRealFft<double>;

}  // namespace sfft::detail
