// SPDX-License-Identifier: Apache-2.0
// Searches for the fastest kernels of a problem by measurement.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/dense/problem/gpu_engine.hpp"
#include "kernels/dense/tuned/plan/geometry.hpp"
#include "kernels/dense/tuned/plan/needs.hpp"
#include "kernels/dense/tuned/policy/limits.hpp"
#include "kernels/dense/tuned/policy/transform_policy.hpp"

namespace sfft::detail {

/// One candidate and its result.
struct TunedTrial {
  std::string kernel;   ///< its text form, as in wisdom files
  std::string radices;  ///< radices of the step that was varied
  int pad = 0;          ///< one slot is left free after this many; 0: no padding
  int threads = 0;      ///< threads per transform
  double us = 0;        ///< time of the step that was varied, or of the whole transform
  bool correct =
      true;  ///< whether the transform agrees with cuFFT; known for finalists and for transforms of one step
};

/// Returns every trial of a forward single-precision transform, in order. For benchmarks.
std::vector<TunedTrial> tuned_trials(const DenseProblem& problem);

namespace tuned {

Limits limits_of(int device);
/// At most `max` kernels for a step, the one that the rules choose first.
std::vector<KernelPolicy> ranked_by_rules(LineNeed need, bool single, const Limits& limits, std::size_t max);
/// Chooses by the count of operations alone: the best policy that `accepts` returns true for, or the first
/// one if there is none. Throws Error(backend_unavailable) for problems without a kernel.
TransformPolicy choose_by_rules(const DenseProblem& problem, bool single, const Formats& formats = {},
                                const std::function<bool(const TransformPolicy&)>& accepts = {});
/// Times candidates in device memory that it allocates. This takes seconds, and other work on the GPU
/// disturbs it.
PlanPolicy choose_by_measurement(const DenseProblem& problem, bool single,
                                 std::vector<TunedTrial>* trials = nullptr, const Formats& formats = {});

}  // namespace tuned

}  // namespace sfft::detail
