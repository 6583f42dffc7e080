// SPDX-License-Identifier: Apache-2.0
// The grids and numbers of delays that a comb plan may use.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <cstdint>
#include <vector>

#include "template/comb/comb_planner.hpp"
#include "template/comb/folding.hpp"

namespace sfft::detail {

struct CombCandidate {
  std::array<std::int64_t, 3> buckets;
  std::int64_t delays;
  /// For an image that crosses a bus: number of rows within one stride at which delays begin. All samples lie
  /// in row_sets·buckets[0] rows. 0: any number.
  std::int64_t row_sets;
  double us;     ///< predicted time
  double proxy;  ///< estimated relative error, ignoring phases; 0 for least squares

  /// For an image that crosses a bus: the number of rows read.
  std::int64_t rows() const noexcept { return row_sets * buckets[0]; }
};

/// Rank of a candidate if the tail is known; smaller values deserve a search sooner.
struct Promise {
  bool over;  ///< certain to miss the requested accuracy
  double cost, error;
  auto operator<=>(const Promise&) const = default;
};
Promise promise_of(const CombCandidate& candidate, const CombRequest& request);

/// Error and time in one number: by default a plan that is twice as fast may have an error a fifth larger.
inline double weigh(double error, double us, const CombRequest& request) {
  const bool usual = request.time_weight == 0.25;
  return std::max(error, request.enough) *
         (usual ? std::sqrt(std::sqrt(us)) : std::pow(us, request.time_weight));
}

/// Least squares takes the cheapest candidate that works, and tries at most this many.
inline constexpr std::size_t kCombTries = 10;

/// Fewer empty buckets than this do not determine the tail.
inline constexpr std::int64_t kMinEmpty = 8;
/// Whether enough buckets are empty to measure the tail.
constexpr bool leaves_room(std::int64_t buckets, std::int64_t occupied) {
  return buckets - occupied >= std::max(kMinEmpty, buckets / 8);
}

/// All candidates within the request's limits that are worth a search. Unless `all_grids`, a quick plan
/// considers only the grids that a rough look finds most promising, some of which may not leave room. For
/// least squares the kCombTries cheapest come first, in order of cost.
std::vector<CombCandidate> list_comb_candidates(Folding& folding, const CombRequest& request,
                                                bool all_grids = false);

/// Predicted time on the request's backend, in microseconds; `clustered` delays share cache lines.
double predict_us(const SupportSet& support, const CombRequest& request,
                  const std::array<std::int64_t, 3>& grid, std::int64_t delays, bool clustered = false,
                  std::int64_t bus_bytes = 0);

}  // namespace sfft::detail
