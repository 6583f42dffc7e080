// SPDX-License-Identifier: Apache-2.0
// Models a comb with given buckets for a template: which frequencies share a bucket, how much power aliases
// into it, and the best linear estimate of each coefficient from r delays.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <unordered_map>
#include <vector>

#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/base/tables/comb_data.hpp"
#include "kernels/cpu/stages/bucket_systems.hpp"
#include "kernels/runtime/aligned_buffer.hpp"
#include "kernels/runtime/memory_budget.hpp"
#include "template/comb/folding.hpp"

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

namespace cpu {
class ThreadPool;
}

class CombModel {
 public:
  static constexpr std::int64_t kMaxDelays = cpu::kSystemMax;

  /// `buckets` divide the shape. Near aliases are computed when first needed.
  CombModel(const SupportSet& support, const SpectralPrior& prior,
            const std::array<std::int64_t, 3>& buckets);
  /// The same with a folding that has been prepared for these buckets.
  CombModel(std::shared_ptr<const Folding> folding, const std::array<std::int64_t, 3>& buckets);

  const std::array<std::int64_t, 3>& buckets() const noexcept { return buckets_; }
  std::int64_t bucket_count() const noexcept { return buckets_[0] * buckets_[1] * buckets_[2]; }
  std::int64_t occupied_buckets() const noexcept { return static_cast<std::int64_t>(groups_.size()); }
  std::int64_t largest_group() const noexcept { return largest_group_; }

  /// How well coefficients are estimated; weights and errors are for unit scale.
  struct Quality {
    bool solvable = true;
    double error = 0;  ///< Σ E|X̂ − X|² over the examined groups, without f = 0
    double power = 0;  ///< Σ prior E|X|² over the same groups (0 for least squares)
    /// RMS of ‖row‖ sqrt(r): 1 if a frequency is alone; least squares and build() only.
    double gain_rms = 0;
    double gain_max = 0;
  };
  /// Examines `max_groups` of the groups (0: all). Half of them are the most crowded (least squares) or have
  /// the largest tails (otherwise); the rest are evenly spaced in that order.
  Quality assess(std::span<const Delay> delays, std::size_t max_groups);
  /// Frees the samples that assess() keeps for later calls.
  void forget_samples() { samples_.clear(); }
  /// The complete plan for delays that assess() found solvable.
  struct Built {
    CombData data;
    Quality quality;
  };
  Built build(std::span<const Delay> delays, cpu::ThreadPool* pool = nullptr);

 private:
  struct Group {
    std::int64_t bucket;
    std::size_t first, count;  ///< in order_
    bool own;                  ///< contains a frequency of S itself, not only conjugates
    double held;               ///< the tail model's power at the members
    double tail = 0;           ///< power of what aliases here, without the template; own groups only
  };
  /// Groups that are examined together.
  struct Sample {
    struct Pick {
      std::size_t group;
      double weight;  ///< number of groups that it represents
    };
    std::vector<Pick> picks;  ///< the groups packed into lanes, in lane order
    /// Groups with one member, which least squares solves directly, and their members without f = 0.
    std::size_t alone = 0, alone_counted = 0;
    std::unique_ptr<BucketLanes> lanes;
    std::size_t largest = 0;
  };

  /// N/B, the number of frequencies that share a bucket.
  double aliases() const noexcept { return static_cast<double>(strides_[0] * strides_[1] * strides_[2]); }
  const SupportMember& member(const Group& group, std::size_t i) const {
    return folding_->support().members[order_[group.first + i]];
  }
  void rank();
  Sample& sample(std::size_t max_groups);
  /// A bound on E|X̂ − X|² with random delays, ignoring phases.
  double error_bound(const Group& group, const SupportMember& of, std::size_t delays) const;
  struct Bounds {
    double error = 0, power = 0;
  };
  /// Sums of error_bound() and of the prior power over all coefficients but f = 0.
  const Bounds& bounds(std::size_t delays);
  /// The contribution of some coefficients' rows to the overall quality.
  struct Part {
    bool solvable = true;
    double error = 0, power = 0, gains = 0, gain_max = 0;
    std::size_t rows = 0;
  };
  /// Every group has at most kMaxDelays members.
  void sort_by_members(std::vector<std::size_t>& groups) const;
  void build_alone(const Group& group, CombData& data, Part& part) const;
  class OwnPhases;
  Part build_part(std::span<const std::size_t> groups, const LaneDelays& delays, const OwnPhases& phases,
                  CombData& data) const;
  void count_row(const CombData& data, std::size_t coefficient, double squares, Part& part) const;
  /// Packs groups into lanes.
  std::unique_ptr<BucketLanes> pack(std::span<const std::size_t> groups) const;
  void describe(const Group& group, BucketLanes::Slot slot) const;
  void add_tail(const Group& group, BucketLanes::Slot& slot) const;
  /// Tail power of a bucket without its members, whose share of `tail` is `held`.
  static double tail_without(double tail, double held) noexcept;
  std::array<std::int64_t, 3> steps_of(const SupportMember& of) const noexcept;
  std::array<std::int64_t, 3> coordinates_of(std::int64_t bucket) const noexcept;
  void weigh_empty_buckets(CombData& data) const;

  std::shared_ptr<const Folding> folding_;
  std::array<std::int64_t, 3> buckets_, strides_{};
  bool least_squares_;
  LaneComb comb_;
  CountedVector<std::uint32_t> order_;  ///< members, group by group
  CountedVector<Group> groups_;
  CountedVector<std::size_t> own_;      ///< own groups
  CountedVector<std::size_t> ranking_;  ///< own groups, the most crowded or those with the largest tail first
  std::int64_t largest_group_ = 0;
  std::map<std::size_t, Sample> samples_;  ///< by max_groups
  std::map<std::size_t, Bounds> bounds_;   ///< by delays
};

struct DelayChoice {
  std::vector<Delay> delays;
  CombModel::Quality quality;  ///< over the buckets that `final_groups` selects
};

/// Options of search_delays().
struct DelaySearch {
  std::int64_t count = 1;     ///< r
  std::int64_t reach = 0;     ///< > 0: clustered within this many neighbouring samples
  std::int64_t row_sets = 0;  ///< > 0: for an image, number of rows within one stride at which delays begin
  bool mirrored = true;       ///< also tries mirrored lattices
  bool few_lattices = false;  ///< tries only the most promising lattices
  int draws = 12;             ///< random sets to try
  int sweeps = 1;             ///< sweeps of coordinate descent
  std::size_t groups = 48;    ///< buckets examined during the search
  std::size_t final_groups = 0;  ///< buckets that assess the winner; 0: all; equal to `groups`: the same ones
  std::uint64_t seed = 1;
};
/// The best delays found for a model, by predicted error (or noise gain, if the tail is unknown). Clustered
/// delays lie along the last dimension, so that they share cache lines. Returns nothing if no set of delays
/// gives a solvable system.
std::optional<DelayChoice> search_delays(CombModel& model, const Shape& shape, const DelaySearch& options);

}  // namespace sfft::detail
