// SPDX-License-Identifier: Apache-2.0
// Models a comb with given buckets for a template: which frequencies share a bucket, how much power aliases
// into it, and the best linear estimate of each coefficient from r delays.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "kernels/base/comb_data.hpp"
#include "template/comb/bucket_lanes.hpp"
#include "template/comb/folding.hpp"

namespace sfft::detail {

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

}  // namespace sfft::detail
