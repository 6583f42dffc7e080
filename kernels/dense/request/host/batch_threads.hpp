// SPDX-License-Identifier: Apache-2.0
// The threads of a CPU plan. They take whole transforms of a batch, or share one transform after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "kernels/cpu/platform/pool_cache.hpp"
#include "kernels/runtime/run_scope.hpp"

namespace sfft::detail {

/// Thread-safe: each concurrent call has its own pool.
class BatchThreads {
 public:
  /// The number of threads across the batch, and within a transform. One of the two is 1.
  explicit BatchThreads(int across, int within = 1)
      : across_(across), within_(within), pools_(across > within ? across : within) {}

  /// The division of up to `threads` threads that keeps more of them busy, if a part is worth `within` of
  /// them.
  static BatchThreads divided(int threads, std::int64_t parts, int within) {
    const auto across = static_cast<int>(std::min<std::int64_t>(threads, parts));
    return across < within ? BatchThreads(1, within) : BatchThreads(across, 1);
  }

  /// The number of scratch slots that a run needs.
  int slots() const noexcept { return across_; }
  int within() const noexcept { return within_; }
  /// Calls transform(index, slot, pool) for every index below `batch`; rethrows the first exception. The pool
  /// is null if a transform has one thread.
  template <class Transform>
  void run(std::int64_t batch, const Transform& transform) const {
    auto pool = across_ > 1 || within_ > 1 ? pools_.take() : nullptr;
    LoopPolls polls(batch);
    if (across_ == 1 || pool == nullptr) {
      for (std::int64_t b = 0; b < batch; ++b) {
        polls.poll();
        const RunScope::Use part(polls.scope(), batch > 1 || polls.in_part());
        transform(b, 0, pool.get());
      }
      return pools_.give_back(std::move(pool));
    }
    std::mutex failing;
    std::exception_ptr failure;
    pool->run(batch, [&](std::int64_t b, int thread) {
      const RunScope::Use part(polls.scope(), true);
      try {
        polls.poll();
        transform(b, thread, static_cast<cpu::ThreadPool*>(nullptr));
      } catch (...) {
        const std::lock_guard lock(failing);
        if (!failure) failure = std::current_exception();
      }
    });
    pools_.give_back(std::move(pool));
    if (failure) std::rethrow_exception(failure);
  }

 private:
  int across_, within_;
  mutable cpu::PoolCache pools_;
};

}  // namespace sfft::detail
