// SPDX-License-Identifier: Apache-2.0
// Stage "hash": finds the buckets of a template's frequencies, for both backends. Coordinates and extents are
// arrays of three; unused dimensions have coordinate 0 and extent 1.
#pragma once

#include <cstdint>

#include "kernels/base/math/index.hpp"
#include "kernels/base/math/portable.hpp"

namespace sfft::detail {

/// The linear index of the comb bucket that frequency f folds into: b_d = f_d mod B_d.
SFFT_HOST_DEVICE std::int64_t comb_bucket(const std::int64_t* f, const std::int64_t* buckets) {
  return ((f[0] % buckets[0]) * buckets[1] + f[1] % buckets[1]) * buckets[2] + f[2] % buckets[2];
}

/// The bucket of −f, given the bucket of f.
SFFT_HOST_DEVICE std::int64_t comb_mirror(std::int64_t bucket, const std::int64_t* buckets) {
  const std::int64_t b2 = bucket % buckets[2];
  const std::int64_t b1 = bucket / buckets[2] % buckets[1];
  const std::int64_t b0 = bucket / (buckets[2] * buckets[1]);
  return ((b0 == 0 ? 0 : buckets[0] - b0) * buckets[1] + (b1 == 0 ? 0 : buckets[1] - b1)) * buckets[2] +
         (b2 == 0 ? 0 : buckets[2] - b2);
}

/// The bucket just below a frequency on the circle of a flat window's B buckets, and the frequency's distance
/// above it, in [0, 1) buckets.
struct FlatPosition {
  std::int64_t bucket;
  double offset;
};

/// The hash θ_f = Σ_d f_d σ_d / n_d mod 1, times `denominator`, a common multiple of the extents: exact.
SFFT_HOST_DEVICE std::int64_t flat_numerator(const std::int64_t* f, const std::int64_t* sigma,
                                             const std::int64_t* extents, int rank,
                                             std::int64_t denominator) {
  std::int64_t sum = 0;
  for (int d = 0; d < rank; ++d) {
    sum += multiply_mod(f[d], sigma[d], extents[d]) * (denominator / extents[d]);
    if (sum >= denominator) sum -= denominator;
  }
  return sum;
}

SFFT_HOST_DEVICE FlatPosition flat_position(std::int64_t numerator, std::int64_t denominator,
                                            std::int64_t buckets) {
  const auto scaled = static_cast<unsigned __int128>(numerator) * static_cast<unsigned __int128>(buckets);
  const auto whole = static_cast<unsigned __int128>(denominator);
  return {static_cast<std::int64_t>(scaled / whole),
          static_cast<double>(static_cast<std::int64_t>(scaled % whole)) / static_cast<double>(denominator)};
}

}  // namespace sfft::detail
