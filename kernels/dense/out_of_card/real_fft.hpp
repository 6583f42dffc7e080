// SPDX-License-Identifier: Apache-2.0
// Real transforms of arrays in host memory that exceed what a card may use: a complex one, between passes of
// the host.
#pragma once

#include "kernels/dense/out_of_card/out_of_card_fft.hpp"
#include "kernels/dense/out_of_card/real_passes.hpp"

namespace sfft::detail {

/// Rows of even length are transformed as half as many pairs. That takes no other array. Rows of odd length
/// are transformed as complex ones, in an array of their own, twice as large as the signals.
template <class Real>
class OutOfCardRealFft final : public OutOfCardPlan<Real> {
 public:
  /// Rows of the signals begin `pitch` samples apart: as many as they are long, or, in place, as half spectra
  /// need. Throws what OutOfCardFft throws.
  OutOfCardRealFft(const Shape& shape, std::int64_t batch, std::int64_t pitch,
                   std::shared_ptr<Card<Real>> card, const OutOfCardOptions& options);

  std::size_t workspace_bytes() const noexcept override;
  void forward(const void* signals, std::complex<Real>* spectra, Real scale,
               std::byte* workspace) const override;
  void inverse(const std::complex<Real>* spectra, void* signals, Real scale,
               std::byte* workspace) const override;
  void measure() override;
  std::vector<double> host_shares() const override { return main_->host_shares(); }
  void set_host_shares(const std::vector<double>& shares) override;
  std::string explain() const override;
  /// The host's pass before the rounds, the rounds, and its pass after them; predictions are of forward
  /// calls.
  std::vector<RoundTimes> measured() const override;
  std::vector<RoundTimes> predicted() const override;
  std::string name() const override { return main_->name(); }

 private:
  /// Microseconds of the host's passes.
  struct PassTimes {
    double before = 0, after = 0;
  };
  void assume_passes();
  void measure_passes();
  /// Whether forward calls find the samples where they belong.
  bool in_place() const noexcept;

  Shape shape_;
  std::int64_t batch_, pitch_;
  int threads_;
  RealPasses<Real> passes_;
  std::int64_t row_pairs_, whole_points_;
  std::unique_ptr<OutOfCardFft<Real>> main_;   ///< in the spectra, or in an array of its own
  std::unique_ptr<OutOfCardFft<Real>> tight_;  ///< in signals without gaps; null where main_ does that, too
  PassTimes expected_;                         ///< of a forward call
  bool profiled_ = false;
  mutable std::mutex mutex_;  ///< of the card's memory, which one of them has at a time, and of the following
  mutable std::vector<RoundTimes> measured_;
  mutable bool measured_inverse_ = false;
  mutable cpu::PoolCache pools_;
};

extern template class OutOfCardRealFft<float>;
extern template class OutOfCardRealFft<double>;

}  // namespace sfft::detail
