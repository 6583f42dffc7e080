// SPDX-License-Identifier: Apache-2.0
// The random number generator of discovery.
#pragma once

#include <cstdint>

namespace sfft::detail {

/// A generator without start-up cost (Steele, Lea and Flood, SplitMix64, OOPSLA 2014).
class DiscoveryRandom {
 public:
  explicit DiscoveryRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace sfft::detail
