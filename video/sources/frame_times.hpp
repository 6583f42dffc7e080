// SPDX-License-Identifier: Apache-2.0
// Converts a recording's time stamps to times that never run backwards.
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

}  // namespace sfft::video
