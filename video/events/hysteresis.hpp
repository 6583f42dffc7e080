// SPDX-License-Identifier: Apache-2.0
// Turns a condition that flickers from frame to frame into an event with a start and an end.
#pragma once

#include <cstdint>

namespace sfft::video {

struct HysteresisOptions {
  int begin = 5;   ///< frames with the condition, within `window`, that start an event
  int window = 6;  ///< at most 32
  int end = 15;    ///< consecutive frames without the condition that end it
};

/// Tracks a condition over frames.
class Hysteresis {
 public:
  enum class Change : std::uint8_t { none, begins, ends };

  explicit Hysteresis(const HysteresisOptions& options = {}) : options_(options) {}

  /// Call this when the frame rate changes, because the same times are then other numbers of frames.
  void set_options(const HysteresisOptions& options) noexcept { options_ = options; }
  /// `frame` increases. During an event the caller may judge `holds` by a lower threshold.
  Change update(std::int64_t frame, bool holds) noexcept;
  /// Ends the event, if any, at this frame.
  Change stop(std::int64_t frame) noexcept;

  bool active() const noexcept { return active_; }
  /// Whether the condition held in any frame of the window.
  bool pending() const noexcept { return recent_ != 0; }
  std::int64_t start() const noexcept { return start_; }  ///< the frame in which the condition appeared
  std::int64_t end() const noexcept { return end_; }      ///< the first frame without it

 private:
  HysteresisOptions options_;
  std::uint32_t recent_ = 0;  ///< one bit per frame, the latest lowest
  int without_ = 0;
  bool active_ = false;
  std::int64_t start_ = 0, end_ = 0;
};

}  // namespace sfft::video
