// SPDX-License-Identifier: Apache-2.0
// Streams of a fixed camera whose kind of change switches at random times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/trust/stream.hpp"

namespace sfft::trust {

struct SwitchStream {
  /// From frame `start` on, changes are of this kind, an index into change_kinds().
  struct Segment {
    std::int64_t start;
    std::size_t kind;
    double strength;
  };
  std::string parameters;
  std::int64_t k = 0;
  std::vector<Segment> segments;  ///< frame 0 belongs to none and has only the camera's noise
  std::unique_ptr<Stream> stream;
  std::size_t segment_of(std::int64_t frame) const;
};

/// Stream `index` of a seed. Three of four are matched: each kind has the strength at which a plan reports
/// the same error. Scenes are drawn, and half of them are first frames of the recordings if there are any.
SwitchStream switch_stream(std::uint64_t seed, std::int64_t index, std::int64_t frames,
                           const std::vector<std::string>& recordings);

}  // namespace sfft::trust
