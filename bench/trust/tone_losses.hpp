// SPDX-License-Identifier: Apache-2.0
// Measures how long a tracker's template lacks tones of its stream.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/trust/changing_tones.hpp"

namespace sfft::trust {

/// Results of one stream through one tracker.
struct ToneStreamResult {
  bool planned_dense = false;  ///< no sparse plan is good or fast enough for the first template
  std::int64_t frames = 0, dense = 0, relearned = 0, lost_frames = 0;
  std::int64_t dense_by_plan =
      0;  ///< frames that a dense plan transformed, because no sparse one was good enough
  /// Frames until the template has the tones again, for each loss.
  std::vector<std::int64_t> since_change, since_comparison;
  std::int64_t longest = 0;  ///< longest loss, including one that the end of the stream cuts off
  double dense_share() const { return static_cast<double>(dense) / static_cast<double>(frames); }
};

using WatchFrame = std::function<void(const Tracker<float>::Frame& frame, bool lost)>;
/// Pushes that number of frames after the one that the template is learned from. `each` may be empty.
ToneStreamResult watch(ChangingTones& stream, std::int64_t frames, const WatchFrame& each);

}  // namespace sfft::trust
