// SPDX-License-Identifier: Apache-2.0
// Non-temporal stores, for data that will not be read soon: the processor writes a cache line without
// fetching it first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#if defined(__SSE2__) && defined(__x86_64__)
#define SFFT_NON_TEMPORAL_STORES 1
#include <emmintrin.h>
#endif

namespace sfft::detail::cpu {

template <class Value>
void store_non_temporal(Value* to, const Value& value) {
#ifdef SFFT_NON_TEMPORAL_STORES
  long long words[sizeof(Value) / sizeof(long long)];
  std::memcpy(words, &value, sizeof(Value));
  for (std::size_t w = 0; w < std::size(words); ++w)
    _mm_stream_si64(reinterpret_cast<long long*>(to) + w, words[w]);
#else
  *to = value;
#endif
}

/// Copies between ranges that do not overlap. Partial 64-byte lines at either end use ordinary stores.
inline void copy_non_temporal(std::byte* to, const std::byte* from, std::size_t bytes) {
#ifdef SFFT_NON_TEMPORAL_STORES
  constexpr std::size_t kLine = 64, kWord = sizeof(__m128i);
  const std::size_t head = std::min(bytes, (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine);
  std::memcpy(to, from, head);
  std::size_t at = head;
  for (; at + kLine <= bytes; at += kLine) {
    for (std::size_t w = 0; w < kLine; w += kWord) {
      const __m128i word = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at + w));
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at + w), word);
    }
  }
  to += at;
  from += at;
  bytes -= at;
#endif
  std::memcpy(to, from, bytes);
}

/// Makes earlier non-temporal stores visible to other threads and to devices.
inline void non_temporal_fence() {
#ifdef SFFT_NON_TEMPORAL_STORES
  _mm_sfence();
#endif
}

}  // namespace sfft::detail::cpu
