// SPDX-License-Identifier: Apache-2.0
// Stage "hash" of the flat-window path: the position of each frequency on the circle of buckets. Runs at plan
// time.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>

#include "kernels/base/math/hash.hpp"
#include "sfft/types.hpp"

namespace sfft::detail::cpu {

/// The hash f → θ_f = Σ_d f_d σ_d / n_d mod 1, exact in integers over the least common multiple of the n_d.
class FlatHash {
 public:
  FlatHash(const Shape& shape, const std::array<std::int64_t, 3>& sigma) : shape_(shape), sigma_(sigma) {
    for (const std::int64_t extent : shape.extents()) denominator_ = std::lcm(denominator_, extent);
  }

  std::int64_t denominator() const noexcept { return denominator_; }

  /// θ_f times the denominator.
  std::int64_t numerator(const std::array<std::int64_t, 3>& f) const noexcept {
    return flat_numerator(f.data(), sigma_.data(), shape_.extents().data(), shape_.rank(), denominator_);
  }

  FlatPosition position(const std::array<std::int64_t, 3>& f, std::int64_t buckets) const noexcept {
    return flat_position(numerator(f), denominator_, buckets);
  }

 private:
  Shape shape_;
  std::array<std::int64_t, 3> sigma_;
  std::int64_t denominator_ = 1;
};

}  // namespace sfft::detail::cpu
