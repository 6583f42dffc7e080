// SPDX-License-Identifier: Apache-2.0
// Keeps the times of a live stream in step with this machine's clock when the stream stalls.
#pragma once

#include "video/sources/frame_times.hpp"

namespace sfft::video {

/// If a stream was silent for a while and continues with the next time stamp, its server had paused it: its
/// clock stood still, and the following frames are later than their stamps say. If it was delayed on the way,
/// the missing frames arrive at once, and its stamps are right again after that. Both look alike at the first
/// frame, so times follow arrivals until the stamps have caught up, or for good.
class StreamClock {
 public:
  explicit StreamClock(double frame_rate) : times_(frame_rate) {}

  struct Arrival {
    double seconds = 0;  ///< since a fixed moment in the past
    double waited = 0;   ///< the part since the last frame spent waiting for the next
  };
  /// The time of a frame with this stamp (NaN: none) and arrival, and frames `missing` before it. Never
  /// runs backwards.
  double next(double stamp, const Arrival& arrival, std::int64_t missing = 0);
  /// The next frame comes `seconds` after the last one, whatever its stamp says: a stream came back.
  void jump(double seconds) noexcept;
  /// FrameTimes::set_rate().
  void set_rate(double frame_rate) noexcept { times_.set_rate(frame_rate); }
  /// How long nothing came before the last frame although its stamp follows the previous one; 0: no stall.
  double stalled_seconds() const noexcept { return stalled_; }

  double last() const noexcept { return last_; }
  void add_to(SourceLog& log) const { times_.add_to(log); }

 private:
  FrameTimes times_;
  bool begun_ = false;
  double stamped_ = 0;  ///< time of the last frame according to its stamp
  double lead_ = 0;     ///< the most that stamp times were ever ahead of arrivals
  double behind_ = 0;   ///< current correction
  double stalled_ = 0;
  double last_ = 0;
};

}  // namespace sfft::video
