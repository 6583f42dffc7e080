// SPDX-License-Identifier: Apache-2.0
// Stage "hash": the bucket of each template frequency. Runs at plan time.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/base/math/hash.hpp"

namespace sfft::detail::cpu {

/// comb_bucket() for coordinates in a std::array.
inline std::int64_t hash(const std::array<std::int64_t, 3>& f,
                         const std::array<std::int64_t, 3>& buckets) noexcept {
  return comb_bucket(f.data(), buckets.data());
}

/// comb_mirror() for bucket counts in a std::array.
inline std::int64_t mirror_bucket(std::int64_t bucket, const std::array<std::int64_t, 3>& buckets) noexcept {
  return comb_mirror(bucket, buckets.data());
}

}  // namespace sfft::detail::cpu
