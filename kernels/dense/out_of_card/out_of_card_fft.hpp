// SPDX-License-Identifier: Apache-2.0
// Transforms of arrays in host memory that exceed what a card may use, by the card and the host together,
// after Chen and Li (IPCCC 2013).
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/cpu/platform/pool_cache.hpp"
#include "kernels/dense/out_of_card/dealt_round.hpp"
#include "kernels/dense/out_of_card/out_of_card_plan.hpp"
#include "kernels/dense/out_of_card/transposition.hpp"

namespace sfft::detail {

/// Complex transforms in rounds, each one trip of the array (group_steps()). Arrays are in host memory, in
/// place or apart; a call needs no other memory as large as they are.
template <class Real>
class OutOfCardFft final : public OutOfCardPlan<Real> {
 public:
  /// Without a card the host does everything. Throws Error: out_of_memory for a budget in which not even the
  /// smallest pieces fit, backend_unavailable for lines that cannot be divided.
  OutOfCardFft(const OutOfCardGrid& grid, std::shared_ptr<Card<Real>> card, const OutOfCardOptions& options);

  const OutOfCardGrid& grid() const noexcept { return grid_; }
  std::size_t workspace_bytes() const noexcept override;
  /// Grids that are padded only in place.
  void transform(const std::complex<Real>* from, std::complex<Real>* to, bool inverse, Real scale,
                 std::byte* workspace) const;
  void forward(const void* signals, std::complex<Real>* spectra, Real scale,
               std::byte* workspace) const override {
    transform(static_cast<const std::complex<Real>*>(signals), spectra, false, scale, workspace);
  }
  void inverse(const std::complex<Real>* spectra, void* signals, Real scale,
               std::byte* workspace) const override {
    transform(spectra, static_cast<std::complex<Real>*>(signals), true, scale, workspace);
  }
  /// Allocates what a call in place will need, so that it fails before it begins. It is kept between calls.
  void prepare(const std::complex<Real>* array) const;
  /// Gives back what is kept.
  void release() const;

  void measure() override;
  std::vector<double> host_shares() const override;
  void set_host_shares(const std::vector<double>& shares) override;
  std::string explain() const override;
  std::vector<RoundTimes> measured() const override;
  std::vector<RoundTimes> predicted() const override;
  std::string name() const override;

 private:
  struct Part {
    Step step;
    std::unique_ptr<DealtRound<Real>> round;  ///< null for a transposition
    std::unique_ptr<const Transposition<Real>> transposition;
    RoundProfile profile;
  };
  struct Call {
    const std::complex<Real>* from;
    std::complex<Real>* to;
    bool inverse;
    bool reads_from = false, reads_to = false;
    Residency resident{};
  };

  void plan_steps(std::size_t budget);
  void assume_profiles();
  void measure_step(std::size_t number);
  void measure_transposition(Part& part);
  /// On the threads of a pool; microseconds.
  static double transpose(const Transposition<Real>& transposition, std::complex<Real>* matrix,
                          cpu::ThreadPool* pool, std::byte* workspace);
  RoundTimes run(const Part& part, const Call& call, Real scale, CardSlots<Real>* slots,
                 cpu::ThreadPool* pool, std::byte* workspace) const;
  /// Whether something may stay on the card between the first two rounds.
  bool keeps() const noexcept;
  /// The share of the array that can.
  double residency() const noexcept;
  /// The profile of a round when so much stays.
  RoundProfile with_residency(std::size_t round, double share) const noexcept;
  void plan_residency();
  bool uses_card() const noexcept;
  bool is_measured_in_place() const;
  /// Null if nothing is dealt to the card.
  CardSlots<Real>* slots_for(Call& call) const;

  OutOfCardGrid grid_;
  std::shared_ptr<Card<Real>> card_;
  OutOfCardOptions options_;
  int streams_ = 0;
  std::size_t slot_bytes_ = 0, budget_ = 0;
  Residency resident_;  ///< without its memory
  bool profiled_ = false;
  std::vector<Part> parts_;
  mutable std::mutex mutex_;  ///< of the following
  mutable std::unique_ptr<CardSlots<Real>> slots_;
  mutable std::shared_ptr<std::byte> kept_;  ///< the memory of what stays on the card
  mutable std::size_t kept_bytes_ = 0;
  mutable std::vector<RoundTimes> measured_;
  mutable bool measured_in_place_ = false;
  mutable cpu::PoolCache pools_;
};

extern template class OutOfCardFft<float>;
extern template class OutOfCardFft<double>;

}  // namespace sfft::detail
