// SPDX-License-Identifier: Apache-2.0
// Keeps the times of a live stream in step with this machine's clock when the stream stalls.
#pragma once

#include "video/sources/frame_times.hpp"

namespace sfft::video {

/// A stream that was silent for a while may continue with the next time stamp for two reasons. If its server
/// paused it, its clock stood still, and the following frames are later than their stamps say. If the network
/// delayed it, the missing frames arrive at once, and then its stamps are right again. Both look alike at the
/// first frame, so times follow arrivals until the stamps have caught up, or for good.
class StreamClock {
 public:
  explicit StreamClock(double frame_rate) : times_(frame_rate) {}

  struct Arrival {
    double seconds = 0;  ///< since a fixed moment in the past
    double waited = 0;   ///< seconds spent waiting for this frame since the last one
  };
  /// Returns the time of a frame from its stamp (NaN: none), its arrival and the number of frames `missing`
  /// before it. Times never run backwards.
  double next(double stamp, const Arrival& arrival, std::int64_t missing = 0);
  /// For a stream that came back: the next frame's time is `seconds` after the last one, whatever its stamp
  /// says.
  void jump(double seconds) noexcept;
  /// See FrameTimes::set_rate().
  void set_rate(double frame_rate) noexcept { times_.set_rate(frame_rate); }
  /// Seconds of silence before the last frame, although its stamp follows the previous one; 0: no stall.
  double stalled_seconds() const noexcept { return stalled_; }

  double last() const noexcept { return last_; }
  void add_to(SourceLog& log) const { times_.add_to(log); }

 private:
  FrameTimes times_;
  bool begun_ = false;
  double stamped_ = 0;  ///< time of the last frame according to its stamp
  double lead_ = 0;     ///< max. lead of stamp times over arrivals
  double behind_ = 0;   ///< current correction
  double stalled_ = 0;
  double last_ = 0;
};

}  // namespace sfft::video
