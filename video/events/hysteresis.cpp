// SPDX-License-Identifier: Apache-2.0
// A window of bits: an event starts when enough are set, at the first of them.
#include "video/events/hysteresis.hpp"

#include <bit>

namespace sfft::video {

Hysteresis::Change Hysteresis::update(std::int64_t frame, bool holds) noexcept {
  const std::uint32_t mask = options_.window >= 32 ? ~0U : (1U << options_.window) - 1;
  recent_ = (recent_ << 1 | (holds ? 1U : 0U)) & mask;
  if (active_) {
    if (holds) {
      without_ = 0;
      return Change::none;
    }
    if (++without_ == 1) end_ = frame;
    if (without_ < options_.end) return Change::none;
    active_ = false;
    return Change::ends;
  }
  if (std::popcount(recent_) < options_.begin) return Change::none;
  active_ = true;
  without_ = 0;
  start_ = frame - (static_cast<std::int64_t>(std::bit_width(recent_)) - 1);
  return Change::begins;
}

Hysteresis::Change Hysteresis::stop(std::int64_t frame) noexcept {
  recent_ = 0;
  if (!active_) return Change::none;
  active_ = false;
  end_ = frame;
  return Change::ends;
}

}  // namespace sfft::video
