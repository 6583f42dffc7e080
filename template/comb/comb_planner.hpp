// SPDX-License-Identifier: Apache-2.0
// The search over comb plans: buckets, number of delays, delays.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/tables/comb_data.hpp"
#include "template/comb/comb_model.hpp"
#include "template/data/support_set.hpp"
#include "template/planning/cost_model.hpp"

namespace sfft::detail {

namespace cpu {
class ThreadPool;
}

/// How samples of an image cross a bus: in whole rows.
struct CombBus {
  std::int64_t element_bytes = 0;  ///< per sample; 0: nothing crosses a bus
  std::int64_t max_bytes = 0;      ///< per frame; a plan that needs more ignores rows
};

struct CombRequest {
  double accuracy = 0;           ///< relative L2 error that is good enough; 0: the best within max_samples
  std::int64_t max_samples = 0;  ///< limit on r·B
  double epsilon = 0;            ///< epsilon of the arithmetic that will execute
  double limit_us = 0;           ///< plans predicted to be slower are rejected
  /// Without an accuracy, the plan with the smallest error · time^time_weight wins.
  double time_weight = 0.25;
  /// Smaller errors count as this one, so that time decides. Only without an accuracy.
  double enough = 0;
  CombBus bus{};  ///< only if the tail is known; ignored for signals other than images
  std::uint64_t seed = 1;
  PlanEffort effort = PlanEffort::normal;
  cpu::ThreadPool* pool = nullptr;  ///< threads of the search; the plan is the same for any number
  std::function<double(const CombCost&)> cost =
      predict_comb_us;  ///< microseconds on the backend that executes
};

/// A plan that was considered and rejected, with the reason.
struct Rejection {
  std::string description, reason;
};

struct CombPlan {
  CombData data;
  double predicted_us = 0;
  double predicted_error = 0;  ///< relative to the prior's power; rounding alone for least squares
  double noise_gain = 0;       ///< largest ‖row‖ sqrt(r)
};

/// Estimates the relative error of plan_comb()'s result without building its tables; nothing if there is no
/// plan. 0 if the tail is zero or unknown.
std::optional<double> estimate_comb_error(const SupportSet& support, const SpectralPrior& prior,
                                          const CombRequest& request);

/// The cheapest plan within the requested accuracy, or without one the plan with the smallest error ·
/// time^time_weight. Returns nothing if there is none; `rejected` receives the reasons.
std::optional<CombPlan> plan_comb(const SupportSet& support, const SpectralPrior& prior,
                                  const CombRequest& request, std::vector<Rejection>& rejected);

/// Builds the tables for these buckets, which divide the shape, and these delays, which lie within the
/// strides. All weights and errors are computed from the template, so a file need not be trusted for them.
/// Returns nothing and sets `why` if the delays do not separate the template's frequencies, leave too few
/// buckets empty or read more than the request allows.
std::optional<CombPlan> rebuild_comb(const SupportSet& support, const SpectralPrior& prior,
                                     const std::array<std::int64_t, 3>& buckets,
                                     std::span<const Delay> delays, const CombRequest& request,
                                     std::string& why);

}  // namespace sfft::detail
