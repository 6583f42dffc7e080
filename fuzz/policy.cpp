// SPDX-License-Identifier: Apache-2.0
// Fuzzes the text of tuned policies: it is accepted or refused, and an accepted policy survives a round trip.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "kernels/dense/tuned/policy/policy_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  using namespace sfft::detail::tuned;
  const std::string text(reinterpret_cast<const char*>(bytes), count);
  if (const auto policy = parse_policy(text)) {
    const auto again = parse_policy(to_text(*policy));
    if (!again || !(*again == *policy)) std::abort();
  }
  if (const auto policy = parse_plan_policy(text)) {
    const auto again = parse_plan_policy(to_text(*policy));
    if (!again || !(again->own == policy->own) || again->bytes != policy->bytes) std::abort();
  }
  return 0;
}
