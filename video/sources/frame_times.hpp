// SPDX-License-Identifier: Apache-2.0
// Converts time stamps to times that never run backwards, and keeps those of a live stream in step with this
// machine's clock.
#pragma once

#include <cstdint>

#include "video/sources/source.hpp"

namespace sfft::video {

class FrameTimes {
 public:
  explicit FrameTimes(double frame_rate) { set_rate(frame_rate); }

  /// Returns the next frame's time since the first one, in seconds. If the frame has no stamp (NaN), the time
  /// advances by one nominal interval for it and for each of the `missing` frames before it.
  double next(double stamp, std::int64_t missing = 0);
  /// Sets the nominal frames per second from now on. 0 (unknown) keeps the last known rate.
  void set_rate(double frame_rate) noexcept {
    if (frame_rate > 0) interval_ = 1 / frame_rate;
  }
  /// Sets the stamp of time 0, for a recording that begins after time 0. The first frame's time is then its
  /// stamp minus `stamp`.
  void set_origin(double stamp) noexcept;
  /// For a stream that came back: the next frame's time is `seconds` after the last one, whatever its stamp
  /// says.
  void jump(double seconds) noexcept;

  /// Excludes the latest interval from the measured rate.
  void leave_out_interval() noexcept;

  double last() const noexcept { return last_; }
  /// Adds the intervals, the counts, and the timing without the claimed rate.
  void add_to(SourceLog& log) const;

 private:
  double interval_ = 0;  ///< between frames at the nominal rate; 0: unknown
  bool begun_ = false;   ///< there has been a frame
  bool origin_known_ = false;
  double origin_ = 0;  ///< the stamp of time 0
  double last_ = 0;
  double jump_ = -1;  ///< if at least 0, the interval to the next frame
  std::int64_t frames_ = 0, without_time_ = 0, intervals_ = 0;
  double min_ = 0, max_ = 0;
  std::int64_t measured_ = 0;  ///< intervals from which the rate is measured
  double measured_seconds_ = 0, latest_interval_ = 0;
};

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
