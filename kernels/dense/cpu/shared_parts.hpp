// SPDX-License-Identifier: Apache-2.0
// Spreads the parts of one transform over the threads of an execution.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/platform/thread_pool.hpp"
#include "kernels/dense/problem/engine.hpp"

namespace sfft::detail {

/// Waking a thread takes as long as transforming this many points.
constexpr std::int64_t kPointsPerThread = 1 << 13;

inline int threads_worth(std::int64_t points) {
  constexpr std::int64_t kMost = 1024;
  return static_cast<int>(std::clamp<std::int64_t>(points / kPointsPerThread, 1, kMost));
}

/// job(part, workspace of the thread) for every part; a thread's workspace has `bytes`, a multiple of 64.
/// Jobs must not throw.
template <class Job>
void over_parts(const EngineScratch& scratch, std::size_t bytes, std::int64_t parts, const Job& job) {
  if (scratch.pool == nullptr) {
    for (std::int64_t part = 0; part < parts; ++part) job(part, scratch.workspace);
    return;
  }
  scratch.pool->run(parts, [&](std::int64_t part, int thread) {
    job(part, scratch.workspace + static_cast<std::size_t>(thread) * bytes);
  });
}

/// job(first, end, workspace) for stretches of `count` items of `points` each that are worth handing out.
template <class Job>
void over_stretches(const EngineScratch& scratch, std::size_t bytes, std::int64_t count, std::int64_t points,
                    const Job& job) {
  const std::int64_t each = std::max<std::int64_t>(1, kPointsPerThread / std::max<std::int64_t>(1, points));
  over_parts(scratch, bytes, (count + each - 1) / each, [&](std::int64_t part, std::byte* workspace) {
    job(part * each, std::min(count, (part + 1) * each), workspace);
  });
}

}  // namespace sfft::detail
