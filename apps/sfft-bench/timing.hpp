// SPDX-License-Identifier: Apache-2.0
// Repeats calls for a given time, and allocates arrays as FFTW wants them.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "bench/timing.hpp"

namespace sfft::apps {

using bench::evict_caches;
using bench::median;
using bench::seconds_of;

/// Repeats `call` for about `budget` seconds, at least three times unless it is slow, and returns the
/// median time.
template <class Call>
double warm_seconds(const Call& call, double budget) {
  constexpr double kLong = 0.5;
  std::vector<double> times;
  double total = 0;
  while ((times.size() < 3 && total < kLong) || (total < budget && times.size() < 1000)) {
    times.push_back(seconds_of(call));
    total += times.back();
  }
  return median(std::move(times));
}

/// Allocates memory aligned to cache lines, because FFTW plans for aligned samples accept no other.
template <class T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) noexcept {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64})); }
  void deallocate(T* p, std::size_t) noexcept { ::operator delete (p, std::align_val_t{64}); }
  friend bool operator==(const LineAllocator&, const LineAllocator&) noexcept { return true; }
};
template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

}  // namespace sfft::apps
