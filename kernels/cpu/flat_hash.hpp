// Stage "hash" of the flat-window path: where on the circle of buckets each frequency falls. Runs at plan
// time.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>

#include "kernels/common/index.hpp"
#include "sfft/types.hpp"

namespace sfft::detail::cpu {

/// The bucket below a frequency and how far above it the frequency lies, in [0, 1) buckets.
struct FlatPosition {
  std::int64_t bucket;
  double offset;
};

/// The hash f → θ_f = Σ_d f_d σ_d / n_d mod 1, exact in integers over the least common multiple of the n_d.
class FlatHash {
 public:
  FlatHash(const Shape& shape, const std::array<std::int64_t, 3>& sigma) : shape_(shape), sigma_(sigma) {
    for (const std::int64_t extent : shape.extents()) denominator_ = std::lcm(denominator_, extent);
  }

  std::int64_t denominator() const noexcept { return denominator_; }

  /// θ_f times the denominator.
  std::int64_t numerator(const std::array<std::int64_t, 3>& f) const noexcept {
    std::int64_t sum = 0;
    for (int d = 0; d < shape_.rank(); ++d) {
      const auto at = static_cast<std::size_t>(d);
      sum += multiply_mod(f[at], sigma_[at], shape_[d]) * (denominator_ / shape_[d]);
      if (sum >= denominator_) sum -= denominator_;
    }
    return sum;
  }

  FlatPosition position(const std::array<std::int64_t, 3>& f, std::int64_t buckets) const noexcept {
    const auto scaled =
        static_cast<unsigned __int128>(numerator(f)) * static_cast<unsigned __int128>(buckets);
    const auto whole = static_cast<unsigned __int128>(denominator_);
    return {
        static_cast<std::int64_t>(scaled / whole),
        static_cast<double>(static_cast<std::int64_t>(scaled % whole)) / static_cast<double>(denominator_)};
  }

 private:
  Shape shape_;
  std::array<std::int64_t, 3> sigma_;
  std::int64_t denominator_ = 1;
};

}  // namespace sfft::detail::cpu
