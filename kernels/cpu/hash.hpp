// Stage "hash": the bucket of each template frequency. Runs at plan time.
#pragma once

#include <array>
#include <cstdint>

#include "sfft/types.hpp"

namespace sfft::detail::cpu {

/// The flat bucket of frequency f (coordinates): b_d = f_d mod B_d.
inline std::int64_t hash(const std::array<std::int64_t, 3>& f,
                         const std::array<std::int64_t, 3>& buckets) noexcept {
  return ((f[0] % buckets[0]) * buckets[1] + f[1] % buckets[1]) * buckets[2] + f[2] % buckets[2];
}

/// The bucket of -f for an f in bucket b.
inline std::int64_t mirror_bucket(std::int64_t bucket, const std::array<std::int64_t, 3>& buckets) noexcept {
  const std::int64_t b2 = bucket % buckets[2];
  const std::int64_t b1 = bucket / buckets[2] % buckets[1];
  const std::int64_t b0 = bucket / (buckets[2] * buckets[1]);
  const auto negate = [](std::int64_t b, std::int64_t extent) { return b == 0 ? 0 : extent - b; };
  return (negate(b0, buckets[0]) * buckets[1] + negate(b1, buckets[1])) * buckets[2] + negate(b2, buckets[2]);
}

}  // namespace sfft::detail::cpu
