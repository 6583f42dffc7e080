// SPDX-License-Identifier: Apache-2.0
// What a comb with given buckets does to a template: which frequencies share a bucket, what aliases into it,
// and the best linear estimate of each coefficient from r delays.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/base/comb_data.hpp"
#include "template/data/support_set.hpp"

namespace sfft::detail {

using Delay = std::array<std::int64_t, 3>;

struct BucketSolution;

class CombModel {
 public:
  static constexpr std::int64_t kMaxDelays = 24;

  /// `buckets` divide the shape. Cheap; the aliases are worked out when they are first needed.
  CombModel(const SupportSet& support, const SpectralPrior& prior,
            const std::array<std::int64_t, 3>& buckets);

  const std::array<std::int64_t, 3>& buckets() const noexcept { return buckets_; }
  std::int64_t bucket_count() const noexcept { return buckets_[0] * buckets_[1] * buckets_[2]; }
  std::int64_t largest_group() const noexcept { return largest_group_; }
  std::int64_t occupied() const noexcept { return static_cast<std::int64_t>(groups_.size()); }

  /// A bound on Σ E|error|² with r delays at random, without looking at phases: what the search sorts by.
  double proxy_error(std::int64_t delay_count);

  struct Quality {
    bool solvable = true;
    double error = 0;     ///< Σ E|X̂ − X|² over the groups looked at, without f = 0 (unit scale)
    double power = 0;     ///< Σ prior E|X|² over the same (0 for least squares)
    double gain_rms = 0;  ///< RMS of ‖row‖ sqrt(r): 1 where a frequency is alone
    double gain_max = 0;
  };
  /// Looks at `max_groups` of the groups (0: all): the most crowded ones for least squares, otherwise a fair
  /// sample.
  Quality assess(std::span<const Delay> delays, std::size_t max_groups);
  /// The whole plan for these delays.
  CombData build(std::span<const Delay> delays);

 private:
  struct Alias {
    std::array<std::int64_t, 3> steps;  ///< f = bucket + steps∘B, signed
    double power;
  };
  struct Group {
    std::int64_t bucket;
    std::size_t first, count;  ///< in order_
    bool own;                  ///< holds a frequency of S itself, not only conjugates
    double tail;               ///< Σ power of what aliases here, without the template
    bool aliases_known;
    double far_tail;  ///< the part of `tail` that `aliases` leaves out; treated as white
    std::vector<Alias> aliases;
  };
  struct StepPhases;

  /// N/B, the frequencies that share a bucket.
  double aliases() const noexcept { return static_cast<double>(strides_[0] * strides_[1] * strides_[2]); }
  void find_tails();
  void find_aliases(Group& group);
  std::array<std::int64_t, 3> coordinates_of(std::int64_t bucket) const noexcept;
  std::complex<double> phase_of(const std::array<std::int64_t, 3>& f, const Delay& delay) const;
  void find_covariance(const Group& group, std::span<const Delay> delays, const StepPhases& steps);
  bool solve(const Group& group, std::span<const Delay> delays, const StepPhases& steps,
             BucketSolution& solution);

  const SupportSet& support_;
  const SpectralPrior& prior_;
  std::array<std::int64_t, 3> buckets_, strides_;
  std::vector<std::int64_t> order_;   ///< members sorted by bucket
  std::vector<Group> groups_;         ///< ascending bucket
  std::vector<std::size_t> ranking_;  ///< own groups: the most crowded, or those with the largest tail, first
  std::int64_t largest_group_ = 0;
  bool white_ = true;
  bool tails_known_ = false;
  std::vector<std::complex<double>> response_, covariance_;  ///< of the problem being solved
  std::vector<double> bucket_tail_;  ///< Σ power aliasing into each bucket, without the template
};

}  // namespace sfft::detail
