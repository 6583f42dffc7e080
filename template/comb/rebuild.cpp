// SPDX-License-Identifier: Apache-2.0
// Builds the tables from the model and applies a planner's criteria to them.
#include "template/comb/comb_planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/cpu/stages/hash.hpp"
#include "template/comb/comb_candidates.hpp"

namespace sfft::detail {

namespace {

/// Largest noise gain of a least-squares plan, just above the limit for plans that a planner chooses (60).
constexpr double kMaxRebuiltGain = 64;

std::int64_t occupied_buckets(const SupportSet& support, const std::array<std::int64_t, 3>& buckets) {
  std::vector<std::int64_t> occupied;
  for (const SupportMember& member : support.members) occupied.push_back(cpu::hash(member.f, buckets));
  std::sort(occupied.begin(), occupied.end());
  return std::unique(occupied.begin(), occupied.end()) - occupied.begin();
}

}  // namespace

std::optional<CombPlan> rebuild_comb(const SupportSet& support, const SpectralPrior& prior,
                                     const std::array<std::int64_t, 3>& buckets,
                                     std::span<const Delay> delays, const CombRequest& request,
                                     std::string& why) {
  const std::int64_t count = buckets[0] * buckets[1] * buckets[2];  // at most N
  const auto r = static_cast<std::int64_t>(delays.size());
  // A planner considers at most this many buckets.
  const auto members = static_cast<std::int64_t>(support.members.size());
  const std::int64_t max = std::min({request.max_samples, support.shape.points(), 64 * members + 4096});
  if (count > max / r) {
    why = fmt::format("it reads {} times {} samples, more than the {} allowed", r, count, max);
    return std::nullopt;
  }
  if (support.real && r % 2 != 0) {
    why = "a real signal's delays come in pairs";
    return std::nullopt;
  }
  if (!leaves_room(count, occupied_buckets(support, buckets))) {
    why = "it leaves too few buckets empty to tell its errors from them";
    return std::nullopt;
  }
  CombModel model(support, prior, buckets);
  if (std::max(r, model.largest_group()) > CombModel::kMaxDelays) {
    why = "too many frequencies share a bucket";
    return std::nullopt;
  }
  CombModel::Built built = model.build(delays, request.pool);
  const CombModel::Quality& quality = built.quality;
  if (!quality.solvable || (prior.least_squares() && !(quality.gain_max <= kMaxRebuiltGain))) {
    why = "its delays do not separate the template's frequencies";
    return std::nullopt;
  }
  CombPlan plan;
  plan.data = std::move(built.data);
  plan.noise_gain = quality.gain_max;
  plan.predicted_error = prior.least_squares() ? quality.gain_rms * request.epsilon
                                               : std::sqrt(quality.error / std::max(quality.power, 1e-300));
  return plan;
}

}  // namespace sfft::detail
