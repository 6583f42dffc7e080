// SPDX-License-Identifier: Apache-2.0
// Lists grids of smooth divisors. A look at a grid only counts the members of its buckets and sums the tail
// that aliases onto each coefficient.
#include "template/comb/comb_candidates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "kernels/base/math/smooth.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"
#include "kernels/runtime/step_trace.hpp"
#include "template/comb/comb_model.hpp"
#include "template/comb/error_bounds.hpp"

namespace sfft::detail {

namespace {

/// Number of coefficients examined to compare grids for a quick plan, or by rows. If there are n times as
/// many, only every n-th is examined.
constexpr std::int64_t kLookedAt = 256;
/// Maximum number of row sets of a candidate; a taller grid achieves the same as more of them.
constexpr std::int64_t kMaxRowSets = 6;
/// Number of coefficients that a rough look examines, and of grids that it keeps.
constexpr std::size_t kRoughlyLookedAt = 128, kPromisingGrids = 4;
/// Maximum number of delays of a quick plan: the cost of a look and of its tables grows with the square of
/// this number.
constexpr std::int64_t kQuickDelays = 8;

std::vector<std::int64_t> smooth_divisors(std::int64_t n, std::int64_t largest) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d <= std::min(n / d, largest); ++d) {
    if (n % d != 0) continue;
    if (is_smooth(d, 7)) divisors.push_back(d);
    if (d != n / d && n / d <= largest && is_smooth(n / d, 7)) divisors.push_back(n / d);
  }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

class Lister {
 public:
  Lister(Folding& folding, const CombRequest& request, bool all_grids)
      : folding_(folding),
        support_(folding.support()),
        prior_(folding.prior()),
        request_(request),
        all_grids_(all_grids),
        least_squares_(prior_.least_squares()),
        by_rows_(request.bus.element_bytes > 0 && support_.shape.rank() == 2 && !least_squares_),
        step_(support_.real ? 2 : 1),
        look_(folding) {
    if (least_squares_) return;
    const std::int64_t apart = request.effort == PlanEffort::quick || by_rows_
                                   ? std::max<std::int64_t>(1, support_.k / kLookedAt)
                                   : 1;
    std::int64_t counted = 0;
    for (std::size_t i = 0; i < support_.members.size(); ++i) {
      const SupportMember& member = support_.members[i];
      if (member.conjugate || member.coefficient == support_.mean_coefficient) continue;
      if (counted++ % apart != 0) continue;
      own_.push_back(i);
      own_power_.push_back(prior_.support_power[static_cast<std::size_t>(member.coefficient)]);
      power_ += own_power_.back();
    }
    const std::size_t some_apart = std::max<std::size_t>(1, own_.size() / kRoughlyLookedAt);
    for (std::size_t i = some_apart / 2; i < own_.size(); i += some_apart) look_.add(own_[i], own_power_[i]);
  }

  std::vector<CombCandidate> list() {
    const Shape& shape = support_.shape;
    const auto members = static_cast<std::int64_t>(support_.members.size());
    max_ = std::min({request_.max_samples, shape.points() / 2, 64 * members + 4096, Folding::kMaxBuckets});
    // Fewer buckets than this would leave almost none empty, or hold more frequencies than delays resolve.
    const std::int64_t min = std::max<std::int64_t>(kMinEmpty, least_squares_ ? members / 12 : members);
    std::array<std::vector<std::int64_t>, 3> sides;
    for (int d = 0; d < 3; ++d) sides[static_cast<std::size_t>(d)] = smooth_divisors(shape[d], max_);
    std::vector<Bounded> grids;
    for (const std::int64_t b0 : sides[0]) {
      for (const std::int64_t b1 : sides[1]) {
        if (b0 * b1 > max_) break;
        for (const std::int64_t b2 : sides[2]) {
          const std::int64_t buckets = b0 * b1 * b2;
          if (buckets > max_) break;
          if (buckets < min || misshapen({b0, b1, b2})) continue;
          // The fullest bucket is at least as full as the mean.
          const std::int64_t fewest = least_squares_ ? whole_steps((members + buckets - 1) / buckets) : step_;
          const std::array<std::int64_t, 3> grid{b0, b1, b2};
          grids.push_back({grid, least_squares_ ? predict_us(support_, request_, grid, fewest) : 0});
        }
      }
    }
    step_done("list: grids");
    if (!least_squares_) return list_all(grids);
    std::stable_sort(grids.begin(), grids.end(),
                     [](const Bounded& a, const Bounded& b) { return a.us < b.us; });
    for (const Bounded& grid : grids) {
      if (enough_below(grid.us)) break;
      folding_.prepare(grid.grid);
      add_grid(grid.grid, candidates_);
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const CombCandidate& a, const CombCandidate& b) { return a.us < b.us; });
    return std::move(candidates_);
  }

 private:
  struct Bounded {
    std::array<std::int64_t, 3> grid;
    double us;  ///< lower bound on this grid's candidates; least squares only
  };
  /// The template's share of a bucket.
  struct Content {
    float tail = 0;  ///< the tail model's power at the members
    std::int32_t members = 0;
  };
  /// How full a grid's buckets are. For each examined coefficient: the number of members in its bucket and
  /// the tail that aliases onto it, both only if tails are examined.
  struct Crowding {
    std::int64_t occupied = 0, largest = 0;
    std::vector<std::int32_t> members;
    std::vector<double> tail;
  };
  /// Scratch of one thread.
  struct Scratch {
    std::vector<Content> in_bucket;  ///< for the grid under examination; all zero between grids
    std::vector<std::int32_t> bucket, at;
    Crowding crowding;
    Folding::Scratch folding;
  };

  std::int64_t whole_steps(std::int64_t delays) const { return (delays + step_ - 1) / step_ * step_; }

  bool enough_below(double us) const {
    return std::count_if(candidates_.begin(), candidates_.end(), [us](const CombCandidate& c) {
             return c.us < us;
           }) >= static_cast<std::ptrdiff_t>(kCombTries);
  }

  /// Natural spectra alias least if the grid's proportions follow the frame's, so very elongated grids are
  /// skipped.
  bool misshapen(const std::array<std::int64_t, 3>& grid) const {
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (int d = 0; d < support_.shape.rank(); ++d) {
      const double stride =
          static_cast<double>(support_.shape[d]) / static_cast<double>(grid[static_cast<std::size_t>(d)]);
      low = std::min(low, stride);
      high = std::max(high, stride);
    }
    return high > 6 * low && !least_squares_;
  }

  /// Examines grids on the request's threads; their order does not depend on the number of threads.
  std::vector<CombCandidate> list_all(const std::vector<Bounded>& bounded) {
    std::vector<Folding::Grid> grids;
    for (const Bounded& grid : bounded) grids.push_back(grid.grid);
    scratch_.resize(request_.pool != nullptr ? static_cast<std::size_t>(request_.pool->threads()) : 1);
    if (by_rows_) {
      bound_rows();
      return list_all(std::span<const Folding::Grid>(grids));
    }
    if (request_.effort == PlanEffort::quick && !all_grids_) return promising(grids);
    if (!grids.empty()) {
      look_.look({&grids[grids.size() / 2], 1}, {}, nullptr);
    }
    return list_all(std::span<const Folding::Grid>(grids));
  }

  std::vector<CombCandidate> list_all(std::span<const Folding::Grid> grids) {
    folding_.prepare(grids, request_.pool);
    step_done("list: fold");
    std::vector<std::vector<CombCandidate>> of(grids.size());
    cpu::for_each(request_.pool, grids.size(), [&](std::size_t g, int thread) {
      add_grid(grids[g], of[g], static_cast<std::size_t>(thread));
    });
    step_done("list: bounds of all grids");
    for (const std::vector<CombCandidate>& some : of)
      candidates_.insert(candidates_.end(), some.begin(), some.end());
    return std::move(candidates_);
  }

  /// The candidates that look best from a few coefficients, each from a different grid.
  std::vector<CombCandidate> promising(std::vector<Folding::Grid> grids) {
    if (!(request_.accuracy > 0)) keep_full(grids);
    std::vector<RoughLook::Entry> entries;
    std::vector<double> us;
    for (std::size_t g = 0; g < grids.size(); ++g) {
      const std::int64_t buckets = grids[g][0] * grids[g][1] * grids[g][2];
      for (std::int64_t r = step_; r <= max_delays(buckets); r += step_) {
        us.push_back(predict_us(support_, request_, grids[g], r));
        if (us.back() > request_.limit_us) break;
        entries.push_back({g, r});
      }
      us.resize(entries.size());
    }
    look_.look(grids, entries, request_.pool);
    // Entries of a grid are adjacent.
    std::vector<std::pair<Promise, CombCandidate>> ranked;
    for (std::size_t e = 0; e < entries.size(); ++e) {
      const RoughLook::Entry& entry = entries[e];
      const CombCandidate candidate{grids[entry.grid], entry.delays, 0, us[e],
                                    estimate(entry.bound, entry.delays)};
      const Promise promise = promise_of(candidate, request_);
      if (e == 0 || entry.grid != entries[e - 1].grid) {
        ranked.emplace_back(promise, candidate);
      } else if (promise < ranked.back().first) {
        ranked.back() = {promise, candidate};
      }
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    ranked.resize(std::min(kPromisingGrids, ranked.size()));
    grids.clear();
    for (const auto& [promise, candidate] : ranked) grids.push_back(candidate.buckets);
    step_done("list: rough look");
    folding_.prepare(grids, request_.pool);
    step_done("list: fold");
    for (const auto& [promise, candidate] : ranked) candidates_.push_back(candidate);
    return std::move(candidates_);
  }

  /// Errors fall with the number of samples, so grids whose candidates all have far fewer samples than others
  /// are dropped.
  void keep_full(std::vector<Folding::Grid>& grids) const {
    constexpr double kMin = 0.7;
    const auto samples = [&](const Folding::Grid& grid) {
      const std::int64_t buckets = grid[0] * grid[1] * grid[2];
      return static_cast<double>(buckets * (max_delays(buckets) / step_ * step_));
    };
    double max = 0;
    for (const Folding::Grid& grid : grids) max = std::max(max, samples(grid));
    std::erase_if(grids, [&](const Folding::Grid& grid) { return samples(grid) < kMin * max; });
  }

  /// The relative error estimated from a bound on its square.
  double estimate(double bound, std::int64_t delays) const {
    return std::sqrt(bound) * std::pow(static_cast<double>(delays), -look_.resolution());
  }

  std::int64_t max_delays(std::int64_t buckets) const {
    const bool few = request_.effort == PlanEffort::quick && !least_squares_ && !by_rows_;
    return std::min(
        {few ? kQuickDelays : CombModel::kMaxDelays, support_.shape.points() / buckets, max_ / buckets});
  }

  /// `tails`: examines tails as well as members.
  const Crowding& look_at(const std::array<std::int64_t, 3>& grid, Scratch& scratch, bool tails) const {
    Crowding& crowding = scratch.crowding;
    crowding.tail.clear();
    crowding.occupied = crowding.largest = 0;
    const std::vector<std::int32_t>& bucket = scratch.bucket;
    folding_.buckets_of_members(grid, scratch.bucket);
    const auto buckets = static_cast<std::size_t>(grid[0] * grid[1] * grid[2]);
    if (scratch.in_bucket.size() < buckets) scratch.in_bucket.resize(buckets);
    Content* const in_bucket = scratch.in_bucket.data();
    const double* const tail = folding_.tail_at_members().data();
    std::int32_t occupied = 0, largest = 0;
    for (std::size_t i = 0; i < bucket.size(); ++i) {
      Content& content = in_bucket[bucket[i]];
      occupied += content.members == 0;
      largest = std::max(largest, ++content.members);
      content.tail += static_cast<float>(tail[i]);
    }
    crowding.occupied = occupied;
    crowding.largest = largest;
    if (tails) {
      scratch.at.resize(own_.size());
      for (std::size_t i = 0; i < own_.size(); ++i) scratch.at[i] = bucket[own_[i]];
      folding_.tails_of(scratch.at, grid, scratch.folding, crowding.tail);
      crowding.members.resize(own_.size());
      for (std::size_t i = 0; i < own_.size(); ++i) {
        const Content& content = in_bucket[scratch.at[i]];
        crowding.members[i] = std::min(content.members, static_cast<std::int32_t>(CombModel::kMaxDelays));
        crowding.tail[i] = std::max(0.0, crowding.tail[i] - static_cast<double>(content.tail));
      }
    }
    for (const std::int32_t b : bucket) in_bucket[b] = {};
    return crowding;
  }

  std::int64_t row_bytes() const { return support_.shape[1] * request_.bus.element_bytes; }

  /// The error from delays in few rows depends mostly on the number of rows read and of samples per row.
  /// Regular grids with the same numbers of rows and columns bound it.
  void bound_rows() {
    const Shape& shape = support_.shape;
    const std::int64_t max_rows = 3 * request_.bus.max_bytes / (2 * row_bytes());
    std::vector<Folding::Grid> grids;
    for (const std::int64_t rows : smooth_divisors(shape[0], max_rows)) {
      for (const std::int64_t columns : smooth_divisors(shape[1], shape[1])) {
        const std::int64_t samples = rows * columns;
        if (samples >= static_cast<std::int64_t>(support_.members.size()) && samples <= 3 * max_ / 2)
          grids.push_back({rows, columns, 1});
      }
    }
    folding_.prepare(grids, request_.pool);
    regular_ = RowBounds(grids.size());
    cpu::for_each(request_.pool, grids.size(), [&](std::size_t g, int thread) {
      const Crowding& crowding = look_at(grids[g], scratch_[static_cast<std::size_t>(thread)], true);
      RandomBounds bounds(crowding.members, crowding.tail, own_power_);
      regular_.set(g, static_cast<double>(grids[g][0]), static_cast<double>(grids[g][1]),
                   std::max(bounds.next(), 1e-300));
    });
  }

  /// The candidates of one grid and number of delays on a bus, one for each number of row sets.
  void add_by_rows(const std::array<std::int64_t, 3>& grid, std::int64_t delays,
                   std::vector<CombCandidate>& candidates) const {
    const std::int64_t in_a_row = support_.shape[1] / grid[1];
    const std::int64_t max = std::min({kMaxRowSets, delays, support_.shape[0] / grid[0]});
    for (std::int64_t sets = (delays + in_a_row - 1) / in_a_row; sets <= max; ++sets) {
      const std::int64_t bytes = sets * grid[0] * row_bytes();
      if (bytes > request_.bus.max_bytes) break;
      const double us = predict_us(support_, request_, grid, delays, false, bytes);
      if (us > request_.limit_us) break;
      const double bound =
          regular_.bound(static_cast<double>(sets * grid[0]),
                         static_cast<double>(delays * grid[1]) / static_cast<double>(sets), power_);
      // Rows with staggered columns separate more aliases than a regular grid.
      constexpr double kStaggered[kMaxRowSets] = {1, 0.9, 0.85, 0.72, 0.72, 0.72};
      candidates.push_back(
          {grid, delays, sets, us, kStaggered[sets - 1] * std::sqrt(bound / std::max(power_, 1e-300))});
    }
  }

  void add_grid(const std::array<std::int64_t, 3>& grid, std::vector<CombCandidate>& candidates,
                std::size_t thread = 0) {
    const Crowding& crowding = look_at(grid, scratch_[thread], !least_squares_ && !by_rows_);
    const std::int64_t buckets = grid[0] * grid[1] * grid[2];
    if (!leaves_room(buckets, crowding.occupied)) return;
    // Least squares needs one delay per frequency of a bucket; with a prior, the estimates of a crowded
    // bucket only shrink.
    const std::int64_t crowd = least_squares_ ? crowding.largest : 1;
    const std::int64_t first = whole_steps(crowd);
    const std::int64_t last = max_delays(buckets);
    RandomBounds bounds(crowding.members, crowding.tail, own_power_);
    for (std::int64_t r = 1; r <= last; ++r) {
      const double bound = least_squares_ || by_rows_ ? 0 : bounds.next();
      if (r < first || (r - first) % step_ != 0) continue;
      if (least_squares_ && r > first + 2 * step_) break;
      if (by_rows_) {
        add_by_rows(grid, r, candidates);
        continue;
      }
      const double us = predict_us(support_, request_, grid, r);
      if (us > request_.limit_us) break;
      candidates.push_back({grid, r, 0, us, estimate(bound / std::max(power_, 1e-300), r)});
    }
  }

  Folding& folding_;
  const SupportSet& support_;
  const SpectralPrior& prior_;
  const CombRequest& request_;
  bool all_grids_;
  bool least_squares_;
  bool by_rows_;          ///< rows of images cross a bus
  std::int64_t step_;     ///< delays come in pairs for real signals
  std::int64_t max_ = 0;  ///< buckets
  double power_ = 0;
  std::vector<CombCandidate> candidates_;
  std::vector<std::size_t> own_;  ///< members examined: all coefficients but f = 0, or a sample
  std::vector<double> own_power_;
  RoughLook look_;
  std::vector<Scratch> scratch_{1};  ///< per thread
  RowBounds regular_;                ///< for grids of whole rows
};

}  // namespace

std::vector<CombCandidate> list_comb_candidates(Folding& folding, const CombRequest& request,
                                                bool all_grids) {
  return Lister(folding, request, all_grids).list();
}

}  // namespace sfft::detail
