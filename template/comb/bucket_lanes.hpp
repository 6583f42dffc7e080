// SPDX-License-Identifier: Apache-2.0
// Packs buckets of a comb into SIMD lanes for the kernels that solve them. Values that depend only on a delay
// or on a difference of delays are computed once.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "kernels/base/aligned_buffer.hpp"
#include "kernels/base/memory_budget.hpp"
#include "kernels/base/roots.hpp"
#include "kernels/cpu/stages/bucket_systems.hpp"

namespace sfft::detail {

using Delay = std::array<std::int64_t, 3>;

/// Data common to the buckets of one comb.
struct LaneComb {
  std::array<std::int64_t, 3> strides;
  std::array<RootsOfUnity, 3> roots;  ///< of the orders `strides`
  int rank;
  bool least_squares;
  bool coloured;  ///< the tail is not white, so near aliases may matter
};

/// Phases of delays and their differences for the buckets of a comb, each computed once.
class LaneDelays {
 public:
  /// The comb must outlive this object.
  explicit LaneDelays(const LaneComb& comb) noexcept : comb_(comb) {}

  /// Registers a set of delays. Delays are numbered in the order in which they first appear.
  void look_at(std::span<const Delay> delays);
  /// Numbers of the last set's delays, and of their differences, row by row of a triangle.
  const std::vector<int>& delays_at() const noexcept { return delays_at_; }
  const std::vector<int>& differences_at() const noexcept { return differences_at_; }

  std::size_t delays() const noexcept { return delays_.delays.size(); }
  std::size_t differences() const noexcept { return differences_.delays.size(); }
  /// The factor that a frequency these steps away from the bucket's frequency gets at a delay.
  std::complex<double> response(std::size_t delay, const std::array<std::int64_t, 3>& steps) const noexcept;
  /// Phases of near aliases for a difference: kAxis doubles for each of three dimensions.
  const double* phases(std::size_t difference) const noexcept { return &phases_[difference * 3 * kAxis]; }
  static constexpr std::size_t kAxis = 16;

 private:
  /// Numbers delays, or differences of delays.
  class Numbers {
   public:
    int find(const Delay& delay, const std::array<std::int64_t, 3>& strides);
    CountedVector<Delay> delays;

   private:
    std::unordered_map<std::int64_t, int> number_;
  };
  void add_phases();
  void add_roots();

  const LaneComb& comb_;
  Numbers delays_, differences_;
  std::vector<int> delays_at_, differences_at_;
  CountedVector<double> phases_;
  std::array<CountedVector<std::complex<double>>, 3>
      roots_;  ///< [delay][step], for dimensions with few steps
};

class BucketLanes {
 public:
  /// One bucket per entry of `members`. Buckets with equal numbers of members should be adjacent. The comb
  /// must outlive this object.
  BucketLanes(const LaneComb& comb, std::span<const int> members);

  /// Powers of one bucket's near aliases.
  class Near {
   public:
    explicit Near(double* first) noexcept : first_(first) {}
    double& operator[](std::size_t alias) const noexcept { return first_[alias * cpu::kSystemLanes]; }

   private:
    double* first_;
  };
  /// Receives one bucket's members and tail. Frequencies are given as steps q from the bucket's own
  /// frequency: f = bucket + q∘B.
  class Slot {
   public:
    /// `power`: prior E|X|²; unused for least squares.
    void set_member(std::size_t m, const std::array<std::int64_t, 3>& steps, double power) noexcept {
      steps_[m] = steps;
      present_[m * kLanes] = 1;
      if (prior_) inverse_power_[m * kLanes] = 1 / (power > 1e-300 ? power : 1e-300);
    }
    std::array<std::int64_t, 3> steps(std::size_t m) const noexcept { return steps_[m]; }
    /// Power of everything else that aliases here, and the number of those frequencies. For least squares the
    /// power keeps its initial value of 1.
    void set_tail(double power, double frequencies) noexcept {
      *tail_power_ = power;
      *tail_count_ = frequencies;
    }
    /// The powers of near aliases, which are part of that power: those at steps −reach … reach−1 in every
    /// dimension of the shape, row-major. Initially zero.
    Near near() const noexcept { return Near(near_power_); }

   private:
    friend class BucketLanes;
    static constexpr auto kLanes = static_cast<std::size_t>(cpu::kSystemLanes);
    std::array<std::int64_t, 3>* steps_;
    double *present_, *inverse_power_, *tail_power_, *tail_count_, *near_power_;
    bool prior_;
  };
  Slot slot(std::size_t bucket) noexcept;
  /// Call once all slots are filled. Decides which near aliases are modelled with their phases; see
  /// cpu::BucketSystemKernels::separate.
  void separate_near(bool level_is_white) noexcept;

  /// visit(bucket, variances) receives E|X̂ − X|² of every member, kSystemLanes apart. Returns false, before
  /// all are visited, if least squares cannot separate a bucket's members.
  bool variances(std::span<const Delay> delays, const std::function<void(std::size_t, const double*)>& visit);

  /// The recovery rows of one bucket. They apply to values without the bucket's own phase: y_j exp(−2πi Σ_d
  /// b_d τ_jd/n_d).
  struct Rows {
    const double *weights, *noise, *bias, *response;  ///< of lane 0; the bucket's begin `lane` elements later
    int lane, delays;
    std::complex<double> weight(std::size_t member, std::size_t delay) const noexcept {
      const double* pair = weights + (member * static_cast<std::size_t>(delays) + delay) * cpu::kPair + lane;
      return {pair[0], pair[cpu::kSystemLanes]};
    }
    static double at(const double* table, std::size_t member, int lane) noexcept {
      return table[member * cpu::kSystemLanes + static_cast<std::size_t>(lane)];
    }
  };
  /// Visits every bucket's rows for the set of delays that `delays` saw last, which several BucketLanes may
  /// share.
  bool rows(const LaneDelays& delays, const std::function<void(std::size_t, const Rows&)>& visit);

  /// The number of near aliases: `reach` steps to either side, and `aliases` over all dimensions.
  static std::int64_t reach(int rank) noexcept { return rank == 3 ? 2 : 4; }
  static std::size_t aliases(int rank) noexcept { return rank == 1 ? 8 : 64; }

 private:
  /// Eight buckets.
  struct Batch {
    std::size_t first = 0, count = 0, members = 0;
    bool near = false;
    double *tail_power, *tail_count, *inverse_power, *present, *near_power;
    std::array<std::int64_t, 3>* steps;  ///< [lane][member]
    std::array<std::size_t, 8> present_in_lane{};
    CountedVector<double> responses, tails;  ///< one entry per delay or difference in use
  };
  /// Scratch for systems of this many delays.
  cpu::BucketScratch scratch(std::size_t delays);
  cpu::BucketSystems prepare(Batch& batch, const LaneDelays& delays);
  void add_responses(Batch& batch, const LaneDelays& delays);
  void add_tails(Batch& batch, const LaneDelays& delays);

  const LaneComb& comb_;
  CountedVector<Batch> batches_;
  CountedVector<double> memory_;  ///< the batches point into it
  CountedVector<std::array<std::int64_t, 3>> steps_;
  std::size_t max_members_ = 1;
  LaneDelays delays_;  ///< for variances()
  AlignedBuffer scratch_;
};

}  // namespace sfft::detail
