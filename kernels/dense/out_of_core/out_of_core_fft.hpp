// SPDX-License-Identifier: Apache-2.0
// Transforms of arrays in host memory that exceed what a device may use, by one or several devices and the
// host together, after Chen and Li (IPCCC 2013).
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/cpu/platform/pool_cache.hpp"
#include "kernels/dense/out_of_core/out_of_core_plan.hpp"
#include "kernels/dense/out_of_core/partitioned_round.hpp"
#include "kernels/dense/out_of_core/transposition.hpp"

namespace sfft::detail {

/// A budget of device memory in which no piece fits.
class BudgetError : public Error {
 public:
  BudgetError(std::size_t budget, std::size_t min);
  std::size_t budget_bytes() const noexcept { return budget_; }
  std::size_t min_bytes() const noexcept { return min_; }

 private:
  std::size_t budget_, min_;
};

/// Transforms in rounds, each one trip of the array (group_steps()); of real signals the rows' round is the
/// first, and of inverse ones the last. Arrays are in host memory, in place or apart; a call needs no other
/// memory as large as they are.
template <class Real>
class OutOfCoreFft final : public OutOfCorePlan<Real> {
 public:
  /// Without a device the host does everything. Throws Error: out_of_memory for a budget in which not even
  /// the smallest pieces fit, backend_unavailable for lines that cannot be divided.
  OutOfCoreFft(const OutOfCoreGrid& grid, OutOfCoreDevices<Real> devices, const OutOfCoreOptions& options);

  const OutOfCoreGrid& grid() const noexcept { return grid_; }
  std::size_t steps() const noexcept { return parts_.size(); }
  std::size_t workspace_bytes() const noexcept override;
  /// Complex grids that are padded only in place. Results of all rounds but the last go to `between`, where
  /// it is given: inverse real transforms need the room of half spectra.
  void transform(const std::complex<Real>* from, std::complex<Real>* to, bool inverse, Real scale,
                 std::byte* workspace, std::complex<Real>* between = nullptr) const;
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
    std::unique_ptr<PartitionedRound<Real>> round;  ///< null for a transposition
    std::unique_ptr<const Transposition<Real>> transposition;
    RoundProfile profile;
  };
  struct Call {
    const std::complex<Real>* from;
    std::complex<Real>* to;
    bool inverse;
    std::complex<Real>* between = nullptr;
    bool reads_from = false, reads_to = false, reads_between = false;
  };
  /// Two rounds that need not leave everything in the array between them; negative: there are none.
  struct Pair {
    int slabs = -1, columns = -1;
    bool slabs_first = false;  ///< in forward calls

    bool has(std::size_t round) const noexcept {
      return slabs >= 0 && (static_cast<int>(round) == slabs || static_cast<int>(round) == columns);
    }
    bool first(std::size_t round, bool inverse) const noexcept {
      return (static_cast<int>(round) == slabs) == (slabs_first != inverse);
    }
  };

  void plan_steps(std::size_t budget);
  /// The steps, and as many streams as fit. Throws Error(out_of_memory).
  void plan_steps(std::size_t budget, bool exchanges);
  void split_first(std::vector<Step>& steps) const;
  /// For the streams and the memory of each. Whether all pieces are copied fast.
  bool make_rounds();
  /// Memory of a device that a stream may use in such a step.
  std::size_t slot_budget(Step::Kind kind) const noexcept;
  void assume_profiles();
  /// The pair for calls in place, or for other calls.
  Pair find_pair(bool in_place) const;
  /// The one that a step belongs to.
  const Pair& pair_of(std::size_t round) const noexcept { return pairs_[pairs_[1].has(round) ? 1 : 0]; }
  /// The steps of a call, in their order.
  std::vector<std::size_t> order(bool in_place, bool inverse) const;
  /// Host memory that the device reads, kept from one step's sample to the next: locking pages takes time.
  struct HostScratch {
    std::shared_ptr<std::byte> memory;
    std::size_t bytes = 0;

    std::byte* of(OutOfCoreDevice<Real>& device, std::size_t needed) {
      if (needed > bytes) {
        memory.reset();
        memory = DeviceSlots<Real>::host_memory(device, needed);
        bytes = needed;
      }
      return memory.get();
    }
  };
  class Sample;
  void measure_step(std::size_t number, HostScratch& scratch);
  void measure_transposition(Part& part);
  /// On the threads of a pool; microseconds.
  static double transpose(const Transposition<Real>& transposition, std::complex<Real>* matrix,
                          cpu::ThreadPool* pool, std::byte* workspace);
  RoundTimes run(const Part& part, const RoundCall<Real>& call, const std::vector<DeviceShare<Real>>& shares,
                 cpu::ThreadPool* pool, std::byte* workspace) const;
  /// Threads of a call: the host's, and those that ask for pieces.
  int call_threads() const noexcept;
  /// Memory of a device for its streams, which is that of the largest round.
  std::size_t slots_bytes() const noexcept;
  /// What stays on a device between two rounds whose work is partitioned, if the devices do so many columns.
  Residency residency(const Pair& pair, const Partition& columns, std::int64_t device) const;
  /// The share of what a round's devices do in calls as partitioned.
  double staying(std::size_t round, bool in_place) const noexcept;
  /// The profile of a round when so much stays, and so much of the rest passes through buffers: 0, 1/2 where
  /// the device does not read one of the arrays, 1.
  RoundProfile profile_of(std::size_t round, double staying, double buffered) const noexcept;
  /// Of arrays that the device reads.
  double buffered_always() const noexcept { return options_.packed ? 1 : 0; }
  std::vector<RoundTimes> predicted(bool in_place, const std::vector<double>& buffered) const;
  void plan_residency();
  /// The best by the load model, round by round.
  void choose_shares();
  /// The best for one round, as far as the others are partitioned.
  void choose_share(std::size_t round);
  /// A share of the host in one round leaves less on the devices for the other: tries smaller ones.
  void balance_pair(bool in_place);
  bool uses_device() const noexcept;
  bool predicts_in_place() const;
  std::string describe(const Part& part) const;
  /// A share for each device; none if nothing is assigned to them.
  std::vector<DeviceShare<Real>> shares_for(Call& call) const;
  void free_device_memory() const;

  OutOfCoreGrid grid_;
  OutOfCoreDevices<Real> devices_;
  OutOfCoreOptions options_;
  int streams_ = 0;  ///< of each device
  std::size_t budget_ = 0;
  std::array<Pair, 2> pairs_;  ///< of calls apart and in place, and what they leave on the device,
  std::array<std::vector<Residency>, 2> resident_;  ///< without its memory, for each device
  std::size_t exchanged_bytes_ = 0;  ///< of a device's memory, while a round transposes in place
  bool profiled_ = false;
  std::vector<Part> parts_;
  mutable std::mutex mutex_;                                       ///< of the following
  mutable std::vector<std::unique_ptr<DeviceSlots<Real>>> slots_;  ///< of each device, and
  mutable std::vector<std::shared_ptr<std::byte>> kept_;           ///< the memory of what stays there
  mutable std::size_t kept_bytes_ = 0;
  mutable std::vector<RoundTimes> measured_;  ///< the last call's, and what of its pieces was
  mutable std::vector<double> buffered_;      ///< copied through buffers in each step
  mutable bool measured_in_place_ = false;
  mutable cpu::PoolCache pools_;
};

extern template class OutOfCoreFft<float>;
extern template class OutOfCoreFft<double>;

}  // namespace sfft::detail
