// SPDX-License-Identifier: Apache-2.0
// Transforms arrays in host memory that exceed the usable device memory. One or several devices and the host
// work together, after Chen and Li (IPCCC 2013).
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/cpu/platform/pool_cache.hpp"
#include "kernels/dense/out_of_core/grouping.hpp"
#include "kernels/dense/out_of_core/out_of_core_plan.hpp"
#include "kernels/dense/out_of_core/partitioned_round.hpp"
#include "kernels/dense/out_of_core/transposition.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

/// The device memory budget is too small for any piece.
class BudgetError : public Error {
 public:
  BudgetError(std::int64_t budget, std::int64_t min);
  std::int64_t budget_bytes() const noexcept { return budget_; }
  std::int64_t min_bytes() const noexcept { return min_; }

 private:
  std::int64_t budget_, min_;
};

/// Transforms in rounds, each of which is one pass over the array (group_steps()). For real signals, the
/// round of the rows comes first in forward transforms and last in inverse ones. Arrays are in host memory,
/// in place or out of place. A call needs no other memory of that size.
class OutOfCoreFft final : public OutOfCorePlan {
 public:
  /// `value_bytes`: of a complex value, 8 or 16. Without a device the host does everything. Throws Error:
  /// out_of_memory for a budget that cannot hold even the smallest pieces, backend_unavailable for lines that
  /// cannot be divided.
  OutOfCoreFft(const OutOfCoreGrid& grid, std::int64_t value_bytes, OutOfCoreDevices devices,
               const OutOfCoreOptions& options);

  const OutOfCoreGrid& grid() const noexcept { return grid_; }
  std::size_t steps() const noexcept { return parts_.size(); }
  std::int64_t workspace_bytes() const noexcept override;
  /// Complex grids may be padded only in place. If `between` is given, all rounds but the last write their
  /// results there, because inverse real transforms need room for half spectra.
  void transform(const void* from, void* to, bool inverse, double scale, std::byte* workspace,
                 void* between = nullptr) const;
  void forward(const void* signals, void* spectra, double scale, std::byte* workspace) const override {
    transform(signals, spectra, false, scale, workspace);
  }
  void inverse(const void* spectra, void* signals, double scale, std::byte* workspace) const override {
    transform(spectra, signals, true, scale, workspace);
  }
  /// Allocates everything that an in-place call needs, so that a lack of memory is reported before the call
  /// begins. The memory is kept between calls.
  void prepare(void* array) const;
  /// Frees the memory kept between calls.
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
    std::unique_ptr<PartitionedRound> round;  ///< null for a transposition
    std::unique_ptr<const Transposition> transposition;
    RoundProfile profile;
  };
  struct Call {
    const std::byte* from;
    std::byte* to;
    bool inverse;
    std::byte* between = nullptr;
    bool reads_from = false, reads_to = false, reads_between = false;
  };
  /// Two rounds between which some values may stay on the device. Negative if there is no such pair.
  struct Pair {
    int slabs = -1, columns = -1;
    bool slabs_first = false;  ///< true if slabs come first in forward calls

    bool has(std::size_t round) const noexcept {
      return slabs >= 0 && (static_cast<int>(round) == slabs || static_cast<int>(round) == columns);
    }
    bool first(std::size_t round, bool inverse) const noexcept {
      return (static_cast<int>(round) == slabs) == (slabs_first != inverse);
    }
  };

  void plan_steps(std::int64_t budget);
  /// Plans the steps, with as many streams as fit. Throws Error(out_of_memory).
  void plan_steps(std::int64_t budget, bool exchanges);
  void split_first(std::vector<Step>& steps) const;
  /// Makes the rounds for the current number of streams. Returns whether all pieces are copied at full speed.
  bool make_rounds();
  /// Device memory that one stream may use in a step of this kind.
  std::int64_t slot_budget(Step::Kind kind) const noexcept;
  void assume_profiles();
  /// Finds the pair for in-place or out-of-place calls.
  Pair find_pair(bool in_place) const;
  /// The pair that a step belongs to.
  const Pair& pair_of(std::size_t round) const noexcept { return pairs_[pairs_[1].has(round) ? 1 : 0]; }
  /// The steps of a call, in execution order.
  std::vector<std::size_t> order(bool in_place, bool inverse) const;
  /// Host memory that the device can access directly. It is kept from one step's sample to the next, because
  /// locking pages takes time.
  struct HostScratch {
    std::shared_ptr<std::byte> memory;
    std::int64_t bytes = 0;

    std::byte* of(OutOfCoreDevice& device, std::int64_t needed) {
      if (needed > bytes) {
        memory.reset();
        memory = DeviceSlots::host_memory(device, needed);
        bytes = needed;
      }
      return memory.get();
    }
  };
  class Sample;
  void measure_step(std::size_t number, HostScratch& scratch);
  void measure_transposition(Part& part);
  /// Transposes on the threads of a pool; returns microseconds.
  static double transpose(const Transposition& transposition, std::byte* matrix, cpu::ThreadPool* pool,
                          std::byte* workspace);
  RoundTimes run(const Part& part, const RoundCall& call, const std::vector<DeviceShare>& shares,
                 cpu::ThreadPool* pool, std::byte* workspace) const;
  /// The number of threads of a call: those of the host, and those that enqueue pieces.
  int call_threads() const noexcept;
  /// Bytes that one device needs for its streams: the maximum over all rounds.
  std::int64_t slots_bytes() const noexcept;
  /// What stays on a device between two partitioned rounds, given the partition of the columns.
  Residency residency(const Pair& pair, const Partition& columns, std::int64_t device) const;
  /// The fraction of the devices' values in a round that stays on them, with the current partition.
  double staying(std::size_t round, bool in_place) const noexcept;
  /// The profile of a round, given the fraction of values that stays on the devices and the fraction of the
  /// rest that is staged through buffers: 0, 1, or 1/2 if the device cannot directly access one of the two
  /// arrays.
  RoundProfile profile_of(std::size_t round, double staying, double buffered) const noexcept;
  /// The staged fraction for arrays that the device can access directly.
  double buffered_always() const noexcept { return options_.packed ? 1 : 0; }
  std::vector<RoundTimes> predicted(bool in_place, const std::vector<double>& buffered) const;
  void plan_residency();
  /// Chooses the best shares by the load model, round by round.
  void choose_shares();
  /// Chooses the best share for one round, given the partitions of the others.
  void choose_share(std::size_t round);
  /// Tries smaller shares for both rounds of a pair, because the host's share in one round reduces what the
  /// devices keep for the other.
  void balance_pair(bool in_place);
  bool uses_device() const noexcept;
  bool predicts_in_place() const;
  std::string describe(const Part& part) const;
  /// The DeviceShare of each device; empty if the devices get no work.
  std::vector<DeviceShare> shares_for(Call& call) const;
  void free_device_memory() const;

  std::int64_t bytes(std::int64_t values) const noexcept { return values * value_bytes_; }

  OutOfCoreGrid grid_;
  std::int64_t value_bytes_;
  OutOfCoreDevices devices_;
  OutOfCoreOptions options_;
  int streams_ = 0;  ///< streams per device
  std::int64_t budget_ = 0;
  std::array<Pair, 2> pairs_;                       ///< for out-of-place and in-place calls
  std::array<std::vector<Residency>, 2> resident_;  ///< what the pairs leave on each device; memory not set
  std::int64_t exchanged_bytes_ = 0;                ///< per device, for transposing in-place rounds
  bool profiled_ = false;
  std::vector<Part> parts_;
  mutable std::mutex mutex_;                                 ///< guards the members below
  mutable std::vector<std::unique_ptr<DeviceSlots>> slots_;  ///< one per device
  mutable std::vector<std::shared_ptr<std::byte>> kept_;     ///< one per device: values that stay there
  mutable std::int64_t kept_bytes_ = 0;
  mutable std::vector<RoundTimes> measured_;  ///< times of the last call
  mutable std::vector<double> buffered_;      ///< staged fraction of each step in the last call
  mutable bool measured_in_place_ = false;
  mutable cpu::PoolCache pools_;
};

}  // namespace sfft::detail
