// SPDX-License-Identifier: Apache-2.0
// Policies as text: what wisdom files keep for the tuned engine, and what benchmarks print.
//
//   streams=2 kernel radices=12.9.10 threads_per_transform=108 half_shared=1 kernel radices=16.16 ...
//
// Words are name=value in any order, each at most once: first those of the whole transform, then, after the
// word "kernel", those of each kernel in the order of the forward transform. Names are those of the knobs
// (knobs.cpp); radices and factors are lists. What is not named has its default.
#pragma once

#include <optional>
#include <string>

#include "kernels/dense/tuned/policy/transform_policy.hpp"

namespace sfft::detail::tuned {

std::string to_text(const TransformPolicy& policy);
/// Nothing for a text that is not a policy, or whose numbers no kernel could have.
std::optional<TransformPolicy> parse_policy(const std::string& text);

/// The policy for 8-bit samples, if there is one, follows the word "bytes".
std::string to_text(const PlanPolicy& policy);
std::optional<PlanPolicy> parse_plan_policy(const std::string& text);

}  // namespace sfft::detail::tuned
