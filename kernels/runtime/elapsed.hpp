// SPDX-License-Identifier: Apache-2.0
// Wall-clock time since a moment, and of a call.
#pragma once

#include <chrono>

namespace sfft::detail {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double us_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

template <class Call>
double seconds_of(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return seconds_since(start);
}

}  // namespace sfft::detail
