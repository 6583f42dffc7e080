// SPDX-License-Identifier: Apache-2.0
// The text form of policies. Wisdom files store it for the tuned engine, and benchmarks print it.
//
//   streams=2 kernel radices=12.9.10 threads_per_transform=108 half_shared=1 kernel radices=16.16 ...
//
// Words are name=value in any order, each at most once. Those of the whole transform come first. Then the
// word "kernel" begins the words of each kernel, in the order of the forward transform. Names are those of
// the knobs (knobs.cpp); radices and factors are lists. Anything not named has its default.
#pragma once

#include <optional>
#include <string>

#include "kernels/dense/tuned/policy/transform_policy.hpp"

namespace sfft::detail::tuned {

std::string to_text(const TransformPolicy& policy);
/// Returns nothing if the text is not a policy or if no kernel could have its numbers.
std::optional<TransformPolicy> parse_policy(const std::string& text);

/// The policy for 8-bit samples, if there is one, follows the word "bytes".
std::string to_text(const PlanPolicy& policy);
std::optional<PlanPolicy> parse_plan_policy(const std::string& text);

}  // namespace sfft::detail::tuned
