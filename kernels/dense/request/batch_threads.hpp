// SPDX-License-Identifier: Apache-2.0
// The threads of a plan on the CPU, over which the transforms of a batch are spread.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/cpu/platform/thread_pool.hpp"
#include "kernels/dense/request/runner.hpp"

namespace sfft::detail {

/// Thread-safe: concurrent calls have a pool each.
class BatchThreads {
 public:
  explicit BatchThreads(const DenseRequest& request);

  int count() const noexcept { return threads_; }
  /// Calls transform(index, thread) for every index below `batch`; rethrows the first exception.
  template <class Transform>
  void run(std::int64_t batch, const Transform& transform) const {
    if (threads_ == 1) {
      for (std::int64_t b = 0; b < batch; ++b) transform(b, 0);
      return;
    }
    std::mutex failing;
    std::exception_ptr failure;
    auto pool = take_pool();
    pool->run(batch, [&](std::int64_t b, int thread) {
      try {
        transform(b, thread);
      } catch (...) {
        const std::lock_guard lock(failing);
        if (!failure) failure = std::current_exception();
      }
    });
    give_back(std::move(pool));
    if (failure) std::rethrow_exception(failure);
  }

 private:
  std::unique_ptr<cpu::ThreadPool> take_pool() const;
  void give_back(std::unique_ptr<cpu::ThreadPool> pool) const;

  int threads_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<cpu::ThreadPool>> idle_;  ///< one per concurrent call
};

}  // namespace sfft::detail
