// SPDX-License-Identifier: Apache-2.0
// Expands limited range (8-bit levels 16 to 235) to full range, with the same bits on CPU and GPU.
#pragma once

#include <cstdint>

#include "kernels/base/math/portable.hpp"

namespace sfft::detail {

/// (value - 16) * 255 / 219, rounded and clipped. The result is exact for every value, and the 16-bit
/// arithmetic vectorises well.
SFFT_HOST_DEVICE constexpr std::uint8_t full_range(std::uint8_t sample) noexcept {
  const std::uint8_t above = sample > 16 ? static_cast<std::uint8_t>(sample - 16) : std::uint8_t{0};
  const std::uint8_t value = above < 219 ? above : std::uint8_t{219};
  const auto scaled = static_cast<std::uint16_t>(value * 36 + 109);
  const auto quotient = static_cast<std::uint16_t>(scaled * std::uint32_t{4788} >> 16);
  return static_cast<std::uint8_t>(value + (quotient >> 4));
}

/// The same for samples of 9 to 16 bits. Uses fixed point, because compilers may or may not fuse a
/// floating-point multiplication with an addition.
class FullRange {
 public:
  explicit constexpr FullRange(int bits) noexcept
      : black_(16U << (bits - 8)),
        span_(219U << (bits - 8)),
        scale_(((std::uint64_t{1} << (bits + kFraction)) - (std::uint64_t{1} << kFraction) + span_ / 2) /
               span_) {}

  SFFT_HOST_DEVICE constexpr std::uint16_t operator()(std::uint16_t sample) const noexcept {
    const std::uint32_t above = sample > black_ ? sample - black_ : 0;
    const std::uint32_t value = above < span_ ? above : span_;
    constexpr std::uint64_t kHalf = std::uint64_t{1} << (kFraction - 1);
    return static_cast<std::uint16_t>((value * scale_ + kHalf) >> kFraction);
  }

 private:
  static constexpr int kFraction = 31;
  std::uint32_t black_, span_;
  std::uint64_t scale_;  ///< (2^bits - 1) / span, below 2^32
};

}  // namespace sfft::detail
