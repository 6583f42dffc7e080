// SPDX-License-Identifier: Apache-2.0
// Lists grids of smooth divisors. A look at a grid counts the members of its buckets and the tail that
// aliases onto each coefficient, nothing more.
#include "template/comb/comb_candidates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "template/comb/comb_model.hpp"

namespace sfft::detail {

namespace {

/// Fewer empty buckets than this say too little about the tail.
constexpr std::int64_t kMinEmpty = 8;

bool smooth(std::int64_t n) {
  for (const std::int64_t prime : {2, 3, 5, 7}) {
    while (n % prime == 0) n /= prime;
  }
  return n == 1;
}

std::vector<std::int64_t> smooth_divisors(std::int64_t n, std::int64_t largest) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d <= std::min(n / d, largest); ++d) {
    if (n % d != 0) continue;
    if (smooth(d)) divisors.push_back(d);
    if (d != n / d && n / d <= largest && smooth(n / d)) divisors.push_back(n / d);
  }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

class Lister {
 public:
  Lister(Folding& folding, const CombRequest& request)
      : folding_(folding),
        support_(folding.support()),
        prior_(folding.prior()),
        request_(request),
        least_squares_(prior_.least_squares()),
        step_(support_.real ? 2 : 1) {
    for (std::size_t i = 0; i < support_.members.size() && !least_squares_; ++i) {
      const SupportMember& member = support_.members[i];
      if (member.conjugate || member.coefficient == support_.mean_coefficient) continue;
      own_.push_back(i);
      own_power_.push_back(prior_.support_power[static_cast<std::size_t>(member.coefficient)]);
      power_ += own_power_.back();
    }
  }

  std::vector<CombCandidate> list() {
    const Shape& shape = support_.shape;
    const auto members = static_cast<std::int64_t>(support_.members.size());
    const std::int64_t most = std::min({request_.max_samples, shape.points() / 2, 64 * members + 4096});
    // Fewer buckets than this would leave almost none empty, or hold more frequencies than delays resolve.
    const std::int64_t least = std::max<std::int64_t>(kMinEmpty, least_squares_ ? members / 12 : members);
    std::array<std::vector<std::int64_t>, 3> sides;
    for (int d = 0; d < 3; ++d) sides[static_cast<std::size_t>(d)] = smooth_divisors(shape[d], most);
    struct Bounded {
      std::array<std::int64_t, 3> grid;
      double us;  ///< no candidate of this grid is faster
    };
    std::vector<Bounded> grids;
    for (const std::int64_t b0 : sides[0]) {
      for (const std::int64_t b1 : sides[1]) {
        if (b0 * b1 > most) break;
        for (const std::int64_t b2 : sides[2]) {
          const std::int64_t buckets = b0 * b1 * b2;
          if (buckets > most) break;
          if (buckets < least || misshapen({b0, b1, b2})) continue;
          // The fullest bucket is at least as full as the mean.
          const std::int64_t fewest = least_squares_ ? whole_steps((members + buckets - 1) / buckets) : step_;
          grids.push_back({{b0, b1, b2}, predict_us(support_, request_, buckets, fewest)});
        }
      }
    }
    if (!least_squares_) {
      for (const Bounded& grid : grids) add_grid(grid.grid, most);
      return std::move(candidates_);
    }
    std::stable_sort(grids.begin(), grids.end(),
                     [](const Bounded& a, const Bounded& b) { return a.us < b.us; });
    for (const Bounded& grid : grids) {
      if (enough_below(grid.us)) break;
      add_grid(grid.grid, most);
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const CombCandidate& a, const CombCandidate& b) { return a.us < b.us; });
    return std::move(candidates_);
  }

 private:
  std::int64_t whole_steps(std::int64_t delays) const { return (delays + step_ - 1) / step_ * step_; }

  bool enough_below(double us) const {
    return std::count_if(candidates_.begin(), candidates_.end(), [us](const CombCandidate& c) {
             return c.us < us;
           }) >= static_cast<std::ptrdiff_t>(kCombTries);
  }

  /// Natural spectra alias least when the grid's sides follow the frame's; very long grids are skipped.
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

  /// The members of a grid's buckets; for each coefficient but f = 0 those in its own bucket, and the tail
  /// that aliases onto it. The last two are empty for least squares.
  struct Crowding {
    std::int64_t occupied = 0, largest = 0;
    std::vector<std::int32_t> members;
    std::vector<double> tail;
  };

  /// A bound on Σ E|error|² with r delays at random, without looking at phases: what the search sorts by.
  double proxy_error(const Crowding& crowding, std::int64_t delays) const {
    double sum = 0;
    std::array<double, CombModel::kMaxDelays + 1> share;
    for (std::int64_t n = 0; n <= CombModel::kMaxDelays; ++n)
      share[static_cast<std::size_t>(n)] = 1 / static_cast<double>(std::max<std::int64_t>(1, delays + 1 - n));
    for (std::size_t i = 0; i < crowding.tail.size(); ++i)
      sum += std::min(crowding.tail[i] * share[static_cast<std::size_t>(crowding.members[i])], own_power_[i]);
    return sum;
  }

  Crowding look_at(const std::array<std::int64_t, 3>& grid) {
    Crowding crowding;
    const std::vector<std::int64_t> bucket = folding_.buckets_of_members(grid);
    const auto buckets = static_cast<std::size_t>(grid[0] * grid[1] * grid[2]);
    if (in_bucket_.size() < buckets) in_bucket_.resize(buckets);
    const std::span<const double> tail = folding_.tail_at_members();
    for (std::size_t i = 0; i < bucket.size(); ++i) {
      Content& content = in_bucket_[static_cast<std::size_t>(bucket[i])];
      crowding.occupied += content.members == 0;
      crowding.largest = std::max<std::int64_t>(crowding.largest, ++content.members);
      content.tail += tail[i];
    }
    if (!least_squares_) {
      std::vector<std::int64_t> at(own_.size());
      crowding.members.resize(own_.size());
      for (std::size_t i = 0; i < own_.size(); ++i) {
        at[i] = bucket[own_[i]];
        crowding.members[i] = std::min(in_bucket_[static_cast<std::size_t>(at[i])].members,
                                       static_cast<std::int32_t>(CombModel::kMaxDelays));
      }
      crowding.tail = folding_.tails_of(at, grid);
      for (std::size_t i = 0; i < at.size(); ++i)
        crowding.tail[i] = std::max(0.0, crowding.tail[i] - in_bucket_[static_cast<std::size_t>(at[i])].tail);
    }
    for (const std::int64_t b : bucket) in_bucket_[static_cast<std::size_t>(b)] = {};
    return crowding;
  }

  void add_grid(const std::array<std::int64_t, 3>& grid, std::int64_t most) {
    folding_.prepare(grid);
    const Crowding crowding = look_at(grid);
    const std::int64_t buckets = grid[0] * grid[1] * grid[2];
    const std::int64_t empty = buckets - crowding.occupied;
    if (empty < std::max(kMinEmpty, buckets / 8)) return;
    const std::int64_t room = support_.shape.points() / buckets;
    // Least squares needs a delay for each frequency of a bucket; with a prior a crowded bucket only shrinks.
    const std::int64_t crowd = least_squares_ ? crowding.largest : 1;
    const std::int64_t first = whole_steps(crowd);
    const std::int64_t last = std::min({CombModel::kMaxDelays, room, most / buckets});
    for (std::int64_t r = first; r <= last; r += step_) {
      if (least_squares_ && r > first + 2 * step_) break;
      const double us = predict_us(support_, request_, buckets, r);
      if (us > request_.limit_us) break;
      candidates_.push_back({grid, r, us, std::sqrt(proxy_error(crowding, r) / std::max(power_, 1e-300))});
    }
  }

  Folding& folding_;
  const SupportSet& support_;
  const SpectralPrior& prior_;
  const CombRequest& request_;
  bool least_squares_;
  std::int64_t step_;  ///< delays come in pairs for real signals
  double power_ = 0;
  std::vector<CombCandidate> candidates_;
  std::vector<std::size_t> own_;  ///< members that are coefficients other than f = 0
  std::vector<double> own_power_;
  /// What the template has in a bucket of the grid being looked at; nothing in between.
  struct Content {
    std::int32_t members = 0;
    double tail = 0;  ///< what the tail's model says at these
  };
  std::vector<Content> in_bucket_;
};

}  // namespace

std::vector<CombCandidate> list_comb_candidates(Folding& folding, const CombRequest& request) {
  return Lister(folding, request).list();
}

double predict_us(const SupportSet& support, const CombRequest& request, std::int64_t buckets,
                  std::int64_t delays, bool clustered) {
  CombCost cost{};
  cost.points = support.shape.points();
  cost.buckets = buckets;
  cost.delays = delays;
  cost.samples = cost.buckets * delays;
  cost.lines = clustered ? cost.buckets : cost.samples;
  cost.k = support.k;
  cost.real = support.real;
  return request.cost(cost);
}

}  // namespace sfft::detail
