// SPDX-License-Identifier: Apache-2.0
// The search over flat-window plans: lines, delays, buckets.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/tables/flat_data.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

struct FlatOptions {
  double leakage = 1e-8;         ///< relative to the passband: 1e-8 for float, 1e-13 for double
  std::int64_t max_samples = 0;  ///< taps of all lines; 0: any number
  std::uint64_t seed = 1;
  /// Limit on Σ_i noise_gain_i, the energy of all coefficients' errors per unit of white tail energy. 0: no
  /// further limit; the cheapest plan then has 0.3 to 0.8.
  double total_gain = 0;
};

struct FlatPlanResult {
  bool ok = false;
  std::string reason;  ///< why `ok` is false
  FlatPlanData data;
};

/// The cheapest plan found that reads every frequency of the support (distinct linear indices; one of each
/// conjugate pair for a real signal). The same arguments give the same plan. A support that cannot be planned
/// does not throw: `ok` is then false.
FlatPlanResult plan_flat_windows(const Shape& shape, bool real, std::span<const std::int64_t> support,
                                 const FlatOptions& options);

/// The random decisions of plan_flat_windows().
struct FlatDecision {
  std::array<std::int64_t, 3> sigma{0, 0, 0};       ///< coprime to the extents
  std::vector<std::array<std::int64_t, 3>> delays;  ///< starts of the lines, within the grid
  std::int64_t buckets = 1;
  bool full_period = false;
};

/// Rebuilds the plan of a decision for the same arguments; `ok` is false for lines that plan_flat_windows()
/// would not have accepted.
FlatPlanResult rebuild_flat_windows(const Shape& shape, bool real, std::span<const std::int64_t> support,
                                    const FlatOptions& options, const FlatDecision& decision);

/// Predicted execution time on one core, in microseconds.
double predicted_us(const FlatPlanData& data) noexcept;

}  // namespace sfft::detail
