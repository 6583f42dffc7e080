// SPDX-License-Identifier: Apache-2.0
// Work on several threads, of which the caller is one.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace sfft::bench {

/// Runs `work(t)` for t = 0 … threads-1 at the same time, and at least for 0, which is the caller's.
template <class Work>
void on_threads(int threads, const Work& work) {
  std::vector<std::jthread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back([&work, t] { work(t); });
  work(0);
}

/// Runs `work(i)` for i = 0 … count-1. A thread takes the next one when it is free.
template <class Index, class Work>
void each_of(Index count, int threads, const Work& work) {
  std::atomic<Index> next{0};
  on_threads(threads, [&](int) {
    for (Index i = next++; i < count; i = next++) work(i);
  });
}

/// The same in consecutive parts of equal size, one for each thread.
template <class Index, class Work>
void each_in_parts(Index count, int threads, const Work& work) {
  const auto parts = static_cast<Index>(std::max(1, threads));
  on_threads(threads, [&](int t) {
    const auto part = static_cast<Index>(t);
    for (Index i = count * part / parts; i < count * (part + 1) / parts; ++i) work(i);
  });
}

}  // namespace sfft::bench
