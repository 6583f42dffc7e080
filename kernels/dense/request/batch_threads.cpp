// SPDX-License-Identifier: Apache-2.0
// Keeps the pools of threads between calls.
#include "kernels/dense/request/batch_threads.hpp"

#include <algorithm>
#include <thread>

namespace sfft::detail {

namespace {

int thread_count(const DenseRequest& request) {
  const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int wanted = request.options.threads == 0 ? cores : request.options.threads;
  return static_cast<int>(std::min<std::int64_t>(wanted, request.problem.batch));
}

}  // namespace

BatchThreads::BatchThreads(const DenseRequest& request) : threads_(thread_count(request)) {}

std::unique_ptr<cpu::ThreadPool> BatchThreads::take_pool() const {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto pool = std::move(idle_.back());
      idle_.pop_back();
      return pool;
    }
  }
  return std::make_unique<cpu::ThreadPool>(threads_);
}

void BatchThreads::give_back(std::unique_ptr<cpu::ThreadPool> pool) const {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(pool));
}

}  // namespace sfft::detail
