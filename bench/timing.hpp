// SPDX-License-Identifier: Apache-2.0
// Clocks, medians and cache eviction for all benchmarks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/base/math/quantiles.hpp"
#include "kernels/runtime/elapsed.hpp"

namespace sfft::bench {

using detail::median;
using detail::seconds_of;
using detail::seconds_since;

/// CPU time of this thread, or of the process, for machines that run other programs as well.
inline double cpu_seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
inline double thread_cpu_seconds() {
  return cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
}
/// Microseconds of the thread's CPU time that work() takes.
template <class Work>
double thread_cpu_us(const Work& work) {
  const double start = thread_cpu_seconds();
  work();
  return 1e6 * (thread_cpu_seconds() - start);
}
inline double process_cpu_seconds() {
  return cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/// Medians over rounds in which the two run in turn.
struct InTurn {
  double own_us, peer_us, ratio;  ///< ratio: of the peer's time to the own
};
/// CPU time of the process. Each round repeats a call until it takes about `round_us`; both have run before.
template <class Own, class Peer>
InTurn in_turn(int rounds, double round_us, const Own& own, const Peer& peer) {
  const auto us = [](std::int64_t times, const auto& work) {
    const double start = process_cpu_seconds();
    for (std::int64_t i = 0; i < times; ++i) work();
    return 1e6 * (process_cpu_seconds() - start) / static_cast<double>(times);
  };
  const auto times = [round_us](double once) {
    return std::max<std::int64_t>(1, std::llround(round_us / once));
  };
  const std::int64_t own_times = times(us(3, own)), peer_times = times(us(3, peer));
  std::vector<double> own_us, peer_us, ratios;
  for (int round = 0; round < rounds; ++round) {
    own_us.push_back(us(own_times, own));
    peer_us.push_back(us(peer_times, peer));
    ratios.push_back(peer_us.back() / own_us.back());
  }
  return {median(std::move(own_us)), median(std::move(peer_us)), median(std::move(ratios))};
}

/// The median of `runs` runs of `work`, which must return when it is done. A first run is not timed.
template <class Work>
double median_seconds(int runs, const Work& work) {
  std::vector<double> times;
  work();
  for (int i = 0; i < runs; ++i) times.push_back(seconds_of(work));
  return median(std::move(times));
}

/// The q-quantile, with the rank rounded down; `of_none` if there are no values.
template <class Value>
Value lower_quantile(std::vector<Value> values, double q, Value of_none = {}) {
  if (values.empty()) return of_none;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// Reads 64 MiB, so that no part of a signal or plan stays in the caches.
inline void evict_caches() {
  static std::vector<std::int64_t> ballast(std::size_t{8} << 20, 1);
  [[maybe_unused]] static volatile std::int64_t sink;  // keeps the compiler from removing the sum
  sink = std::accumulate(ballast.begin(), ballast.end(), std::int64_t{0});
}

}  // namespace sfft::bench
