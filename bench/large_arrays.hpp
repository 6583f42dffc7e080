// SPDX-License-Identifier: Apache-2.0
// Shared by the benchmarks of large transforms on several threads: shapes from the command line, and data
// that depend only on the position.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::bench {

/// Parses "1024x1024x1024". Throws the exceptions of Shape and std::stoll.
inline Shape parse_shape(const std::string& text) {
  std::vector<std::int64_t> extents;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('x', at), text.size());
    extents.push_back(std::stoll(text.substr(at, end - at)));
    at = end + 1;
  }
  return Shape(std::span<const std::int64_t>(extents));
}

/// A value in [-1, 1).
inline float value_at(std::uint64_t i) {
  i = (i + 1) * 0x9E3779B97F4A7C15ULL;
  i ^= i >> 31;
  i *= 0xBF58476D1CE4E5B9ULL;
  return static_cast<float>(static_cast<std::int32_t>(i >> 32)) / 2147483648.0F;
}

/// Writes to every page of fresh memory, on several threads.
inline void touch(std::byte* memory, std::size_t bytes, int threads) {
  constexpr std::size_t kPage = 4096;
  const std::size_t pages = (bytes + kPage - 1) / kPage, count = static_cast<std::size_t>(threads);
  std::vector<std::thread> workers;
  for (std::size_t t = 0; t < count; ++t) {
    workers.emplace_back([=] {
      for (std::size_t p = pages * t / count; p < pages * (t + 1) / count; ++p) memory[p * kPage] = {};
    });
  }
  for (std::thread& worker : workers) worker.join();
}

/// Fills an array on several threads, which are also the first to touch fresh memory.
inline void fill(float* array, std::int64_t count, int threads) {
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([=] {
      for (std::int64_t i = count * t / threads; i < count * (t + 1) / threads; ++i)
        array[i] = value_at(static_cast<std::uint64_t>(i));
    });
  }
  for (std::thread& worker : workers) worker.join();
}
inline void fill(std::complex<float>* array, std::int64_t points, int threads) {
  fill(reinterpret_cast<float*>(array), 2 * points, threads);
}

}  // namespace sfft::bench
