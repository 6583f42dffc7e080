// SPDX-License-Identifier: Apache-2.0
// Distributes the parts of one transform over the threads of an execution.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/platform/thread_pool.hpp"
#include "kernels/dense/problem/engine.hpp"
#include "kernels/runtime/run_scope.hpp"

namespace sfft::detail {

/// The number of points whose transform takes as long as waking a thread.
constexpr std::int64_t kPointsPerThread = 1 << 13;

/// The fastest number of threads, up to `max`, for a pass over `points` points. Each of T threads finds (T −
/// 1)/T of its points in other cores' caches, and threads start and end one after another. A thread
/// transforms a point in its own cache in 0.6 ns, and waits 2.5 ns for one in another core's cache (measured
/// on 16 cores of one processor). Data too large for one core's cache come from elsewhere in any case, so the
/// model covers only smaller data.
inline int threads_worth(std::int64_t points, int max) {
  constexpr std::int64_t kOwnCache = 1 << 17;
  constexpr double kOwnUs = 0.6e-3, kOthersUs = 2.5e-3, kStartUs = 1, kThreadUs = 0.3;
  const auto n = static_cast<double>(points);
  const auto fitting = static_cast<int>(std::min<std::int64_t>(max, points / kPointsPerThread));
  if (points >= kOwnCache) return std::max(1, fitting);
  int best = 1;
  double best_us = n * kOwnUs;
  for (int threads = 2; threads <= fitting; ++threads) {
    const double t = threads;
    const double us = n / t * (kOwnUs + kOthersUs * (t - 1) / t) + kStartUs + kThreadUs * t;
    if (us >= best_us) continue;
    best = threads;
    best_us = us;
  }
  return best;
}

/// Calls job(part, workspace of the thread) for every part. Each thread has a workspace of `bytes`, a
/// multiple of 64. Jobs must not throw. May end between parts on request (kernels/runtime/run_scope.hpp).
template <class Job>
void over_parts(const EngineScratch& scratch, std::size_t bytes, std::int64_t parts, const Job& job) {
  LoopPolls polls(parts);
  if (scratch.pool == nullptr) {
    for (std::int64_t part = 0; part < parts && !polls.stopped(); ++part) job(part, scratch.workspace);
  } else {
    scratch.pool->run(parts, [&](std::int64_t part, int thread) {
      if (!polls.stopped()) job(part, scratch.workspace + static_cast<std::size_t>(thread) * bytes);
    });
  }
  polls.finish();
}

/// Partitions `count` items of `points` points each into runs that are large enough to be worth a thread.
/// Calls job(first, end, workspace) for each run.
template <class Job>
void over_stretches(const EngineScratch& scratch, std::size_t bytes, std::int64_t count, std::int64_t points,
                    const Job& job) {
  const std::int64_t each = std::max<std::int64_t>(1, kPointsPerThread / std::max<std::int64_t>(1, points));
  over_parts(scratch, bytes, (count + each - 1) / each, [&](std::int64_t part, std::byte* workspace) {
    job(part * each, std::min(count, (part + 1) * each), workspace);
  });
}

}  // namespace sfft::detail
