// SPDX-License-Identifier: Apache-2.0
// Rows have a fixed length, so that an exchange is a few vector instructions.
#include "video/triage/rank_network.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "video/triage/four.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sfft::video {

namespace {

#if defined(__x86_64__)
/// Runs all exchanges with vectors of eight floats.
[[gnu::target("avx2")]] void exchange_avx2(std::span<const RankNetwork::Exchange> exchanges, float* rows) {
  static_assert(RankNetwork::kLanes == 16);
  for (const auto [low, high] : exchanges) {
    float* const a = rows + low * RankNetwork::kLanes;
    float* const b = rows + high * RankNetwork::kLanes;
    const __m256 a0 = _mm256_loadu_ps(a), a1 = _mm256_loadu_ps(a + 8);
    const __m256 b0 = _mm256_loadu_ps(b), b1 = _mm256_loadu_ps(b + 8);
    _mm256_storeu_ps(a, _mm256_min_ps(a0, b0));
    _mm256_storeu_ps(a + 8, _mm256_min_ps(a1, b1));
    _mm256_storeu_ps(b, _mm256_max_ps(a0, b0));
    _mm256_storeu_ps(b + 8, _mm256_max_ps(a1, b1));
  }
}
#endif

/// The same with vectors of four. Compilers do not vectorise minima of rows by themselves.
void exchange_fours(std::span<const RankNetwork::Exchange> exchanges, float* rows) {
  constexpr std::size_t kFours = RankNetwork::kLanes / kFour;
  for (const auto [low, high] : exchanges) {
    Four a[kFours];
    Four b[kFours];
    std::memcpy(a, rows + low * RankNetwork::kLanes, sizeof a);
    std::memcpy(b, rows + high * RankNetwork::kLanes, sizeof b);
    for (std::size_t i = 0; i < kFours; ++i) {
      const Four first = a[i];
      a[i] = first < b[i] ? first : b[i];
      b[i] = first < b[i] ? b[i] : first;
    }
    std::memcpy(rows + low * RankNetwork::kLanes, a, sizeof a);
    std::memcpy(rows + high * RankNetwork::kLanes, b, sizeof b);
  }
}

}  // namespace

RankNetwork::RankNetwork(std::size_t count, std::size_t rank) : rank_(rank) {
  if (count < 2) return;
  const std::size_t top = std::bit_ceil(count) / 2;
  for (std::size_t p = top; p > 0; p /= 2) {
    std::size_t r = 0;
    std::size_t d = p;
    for (std::size_t q = top;; q /= 2) {
      for (std::size_t i = 0; i + d < count; ++i)
        if ((i & p) == r) exchanges_.push_back({i, i + d});
      if (q == p) break;
      d = q - p;
      r = p;
    }
  }
  std::vector<bool> wanted(count, false);
  wanted[rank] = true;
  std::vector<Exchange> needed;
  for (std::size_t i = exchanges_.size(); i-- > 0;) {
    const auto [low, high] = exchanges_[i];
    if (!wanted[low] && !wanted[high]) continue;
    wanted[low] = wanted[high] = true;
    needed.push_back(exchanges_[i]);
  }
  std::ranges::reverse(needed);
  exchanges_ = std::move(needed);
}

std::span<const float, RankNetwork::kLanes> RankNetwork::select(std::span<float> values) const {
  float* const rows = values.data();
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  if (avx2) {
    exchange_avx2(exchanges_, rows);
  } else {
    exchange_fours(exchanges_, rows);
  }
#else
  exchange_fours(exchanges_, rows);
#endif
  return std::span<const float, kLanes>(rows + rank_ * kLanes, kLanes);
}

}  // namespace sfft::video
