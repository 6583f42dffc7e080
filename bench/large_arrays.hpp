// SPDX-License-Identifier: Apache-2.0
// Shared by the benchmarks of large transforms on several threads: shapes from the command line, and data
// that depend only on the position.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/threads.hpp"
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
  each_in_parts((bytes + kPage - 1) / kPage, threads, [=](std::size_t page) { memory[page * kPage] = {}; });
}

/// Fills an array on several threads, which are also the first to touch fresh memory.
inline void fill(float* array, std::int64_t count, int threads) {
  each_in_parts(count, threads, [=](std::int64_t i) { array[i] = value_at(static_cast<std::uint64_t>(i)); });
}
inline void fill(std::complex<float>* array, std::int64_t points, int threads) {
  fill(reinterpret_cast<float*>(array), 2 * points, threads);
}

}  // namespace sfft::bench
