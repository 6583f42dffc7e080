// SPDX-License-Identifier: Apache-2.0
// Rows are of fixed length, so that an exchange is a few vector instructions.
#include "video/triage/rank_network.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace sfft::video {

namespace {

/// Compilers do not make vector minima of rows by themselves.
using Four = float __attribute__((vector_size(16)));
constexpr std::size_t kFours = RankNetwork::kLanes / 4;

void exchange(Four& a, Four& b) {
  const Four first = a;
#if defined(__SSE__)
  a = _mm_min_ps(first, b);
  b = _mm_max_ps(first, b);
#else
  a = first < b ? first : b;
  b = first < b ? b : first;
#endif
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
  for (const auto [low, high] : exchanges_) {
    Four a[kFours];
    Four b[kFours];
    std::memcpy(a, rows + low * kLanes, sizeof a);
    std::memcpy(b, rows + high * kLanes, sizeof b);
    for (std::size_t i = 0; i < kFours; ++i) exchange(a[i], b[i]);
    std::memcpy(rows + low * kLanes, a, sizeof a);
    std::memcpy(rows + high * kLanes, b, sizeof b);
  }
  return std::span<const float, kLanes>(rows + rank_ * kLanes, kLanes);
}

}  // namespace sfft::video
