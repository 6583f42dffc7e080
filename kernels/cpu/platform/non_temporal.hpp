// SPDX-License-Identifier: Apache-2.0
// Stores with non-temporal stores: a line that will not be read soon need not be fetched before it is
// written.
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

/// Of memory that does not overlap; single lines of 64 bytes at either end are stored as usual.
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

/// What was stored with non-temporal stores is visible to other threads, and to devices, afterwards.
inline void non_temporal_fence() {
#ifdef SFFT_NON_TEMPORAL_STORES
  _mm_sfence();
#endif
}

}  // namespace sfft::detail::cpu
