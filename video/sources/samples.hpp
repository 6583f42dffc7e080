// SPDX-License-Identifier: Apache-2.0
// Parts of frames, and frames' samples in their type.
#pragma once

#include <cstdint>

#include "sfft/types.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

/// Calls `action` with a pointer to the first sample of a frame of 8 or 16 bits; rows are frame.stride(0)
/// apart.
template <class Action>
decltype(auto) with_samples(const SignalView& frame, const Action& action) {
  return frame.type() == ElementType::u16 ? action(static_cast<const std::uint16_t*>(frame.data()))
                                          : action(static_cast<const std::uint8_t*>(frame.data()));
}

/// The part of a frame that a region covers. Throws Error(invalid_argument) if the region goes beyond the
/// frame.
SignalView part(const SignalView& frame, const Region& region);

}  // namespace sfft::video
