// SPDX-License-Identifier: Apache-2.0
// Chooses the combs that FFAST samples. The paper has two regimes: one co-prime factor per stage for very
// sparse signals, and products of several for less sparse ones. Here both are one search over the divisors of
// N.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/peers/ffast.hpp"

namespace sfft::peers {

namespace {

// For large k, three stages decode if each has 0.41 k buckets (density evolution, table II of the paper). A
// finite k, and the wish that every seed succeeds, require more.
constexpr double kBucketsPerTerm = 1.25;
constexpr double kSlack = 16;
constexpr std::int64_t kStages = 3;
constexpr double kMeetingCost = 0.7;

std::vector<std::int64_t> divisors(std::int64_t points, std::int64_t min, std::int64_t max) {
  std::vector<std::int64_t> found;
  for (std::int64_t d = std::max<std::int64_t>(2, min); d <= max && d < points; ++d) {
    if (points % d == 0) found.push_back(d);
  }
  return found;
}

/// Returns `count` pairwise co-prime integers around `centre`, greedily from the middle outwards.
std::vector<std::int64_t> coprime_near(double centre, std::int64_t count) {
  std::vector<std::int64_t> chosen;
  const auto middle = std::llround(centre);
  for (std::int64_t step = 0; static_cast<std::int64_t>(chosen.size()) < count; ++step) {
    const std::int64_t candidate = middle + (step % 2 == 0 ? step / 2 : -(step + 1) / 2);
    if (candidate < 2) continue;
    const bool fits = std::all_of(chosen.begin(), chosen.end(),
                                  [&](std::int64_t other) { return std::gcd(other, candidate) == 1; });
    if (fits) chosen.push_back(candidate);
  }
  return chosen;
}

}  // namespace

std::vector<std::int64_t> ffast_stages(std::int64_t points, std::int64_t k) {
  const double min = kBucketsPerTerm * static_cast<double>(k) + kSlack;
  const auto candidates = divisors(points, std::llround(std::ceil(min)),
                                   std::min<std::int64_t>(points / 2, std::llround(60 * min)));
  // Prefer few samples, and few pairs of terms that collide in two stages at once: of k²/2 pairs, one in
  // lcm(a, b) does.
  std::vector<std::int64_t> best;
  double cost = HUGE_VAL;
  const auto meetings = [=](std::int64_t a, std::int64_t b) {
    const double common =
        static_cast<double>(a) / static_cast<double>(std::gcd(a, b)) * static_cast<double>(b);
    return static_cast<double>(k) * static_cast<double>(k) / 2 / common;
  };
  for (std::size_t a = 0; a < candidates.size(); ++a) {
    for (std::size_t b = a + 1; b < candidates.size(); ++b) {
      const double ab = meetings(candidates[a], candidates[b]);
      for (std::size_t c = b + 1; c < candidates.size(); ++c) {
        const double all =
            ab + meetings(candidates[a], candidates[c]) + meetings(candidates[b], candidates[c]);
        const auto samples = static_cast<double>(candidates[a] + candidates[b] + candidates[c]);
        const double trial = samples * (1 + kMeetingCost * all);
        if (trial >= cost) continue;
        cost = trial;
        best = {candidates[a], candidates[b], candidates[c]};
      }
    }
  }
  return best;
}

std::int64_t ffast_length(std::int64_t points, std::int64_t k) {
  const double min = kBucketsPerTerm * static_cast<double>(k) + kSlack;
  // With `factors` co-prime factors, `together` of them per comb: the smallest comb with room for k.
  double smallest = HUGE_VAL;
  std::int64_t factors = 3;
  for (std::int64_t count = kStages; count <= 6; ++count) {
    for (std::int64_t together = 1; together < count; ++together) {
      const double comb =
          std::pow(static_cast<double>(points), static_cast<double>(together) / static_cast<double>(count));
      if (comb < 1.05 * min || comb >= 0.99 * smallest) continue;
      smallest = comb;
      factors = count;
    }
  }
  const double root = std::pow(static_cast<double>(points), 1 / static_cast<double>(factors));
  std::int64_t product = 1;
  for (const std::int64_t factor : coprime_near(root, factors)) product *= factor;
  return product;
}

}  // namespace sfft::peers
