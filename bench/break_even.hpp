// SPDX-License-Identifier: Apache-2.0
// When learning and planning pay off: the number of frames from which one method for a recording costs no
// more than another, including what both cost before their first frame.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace sfft::bench {

/// The cost of transforming frames. Both members have the same unit.
struct StreamCost {
  double preparation = 0;  ///< learning, planning, plan creation
  double frame = 0;        ///< per frame after that

  bool is_valid() const {
    return std::isfinite(preparation) && std::isfinite(frame) && preparation >= 0 && frame >= 0;
  }
};

struct BreakEven {
  /// The smallest n >= 0 with ours.preparation + n ours.frame <= peer.preparation + n peer.frame. Empty if
  /// there is none.
  std::optional<std::int64_t> frames;
  /// The largest such n if slower frames use up a head start. Empty if ours stays ahead, or never is.
  std::optional<std::int64_t> until;
  std::string reason;  ///< the reason for never, or for not staying ahead; otherwise empty
};

inline BreakEven break_even(const StreamCost& ours, const StreamCost& peer) {
  if (!ours.is_valid() || !peer.is_valid()) return {{}, {}, "a time is missing"};
  constexpr double kMax = 9e15;  // doubles represent integers exactly up to about here
  const double debt = ours.preparation - peer.preparation, gain = peer.frame - ours.frame;
  if (debt > 0 && gain <= 0) return {{}, {}, "more preparation and no faster frames"};
  // Monotone in n, despite the rounding of the quotient below.
  const auto ahead = [&](std::int64_t n) { return static_cast<double>(n) * gain >= debt; };
  if (debt > 0) {
    if (debt / gain > kMax) return {{}, {}, "frames are hardly faster"};
    auto n = static_cast<std::int64_t>(std::ceil(debt / gain));
    while (n > 1 && ahead(n - 1)) --n;
    while (!ahead(n)) ++n;
    return {n, {}, {}};
  }
  if (gain >= 0 || debt / gain > kMax) return {0, {}, {}};
  auto n = static_cast<std::int64_t>(std::floor(debt / gain));
  while (ahead(n + 1)) ++n;
  while (n > 0 && !ahead(n)) --n;
  return {0, n, "less preparation but slower frames"};
}

/// Where running totals crossed in a measured run: the smallest number of frames from which `ours` stays at
/// or below `peer` until the end. Entry n is the total after n frames, and entry 0 is the preparation. Empty
/// if `ours` is above at the end.
inline std::optional<std::int64_t> crossing(std::span<const double> ours, std::span<const double> peer) {
  const std::size_t count = std::min(ours.size(), peer.size());
  std::size_t n = count;
  while (n > 0 && ours[n - 1] <= peer[n - 1]) --n;
  if (n == count) return {};
  return static_cast<std::int64_t>(n);
}

}  // namespace sfft::bench
