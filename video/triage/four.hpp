// SPDX-License-Identifier: Apache-2.0
// A vector of four floats, for sums. In a single sum each addition waits for the one before, and compilers
// may not split it into four.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

namespace sfft::video {

using Four = float __attribute__((vector_size(16)));
inline constexpr std::size_t kFour = 4;

inline Four four(std::span<const float> values, std::size_t at) {
  Four some;
  std::memcpy(&some, values.data() + at, sizeof some);
  return some;
}

inline float total(Four sum) {
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// Dot product of two spans of equal length, a multiple of four.
inline float product(std::span<const float> a, std::span<const float> b) {
  Four sum{};
  for (std::size_t i = 0; i < a.size(); i += kFour) sum += four(a, i) * four(b, i);
  return total(sum);
}

}  // namespace sfft::video
