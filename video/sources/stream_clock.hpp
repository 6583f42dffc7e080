// SPDX-License-Identifier: Apache-2.0
// Keeps the times of a live stream with the clock of this machine where the stream stands still.
#pragma once

#include "video/sources/frame_times.hpp"

namespace sfft::video {

/// A stream that gave nothing for a while and goes on with the next time stamp was stopped by its server: its
/// clock has stood still, and the frames that follow are later than their stamps say. If it was held up on
/// its way, what it missed comes at once, and its stamps are right again after that. The two look alike at
/// the first frame, so times go by arrival until the stamps have caught up, or for good.
class StreamClock {
 public:
  explicit StreamClock(double frame_rate) : times_(frame_rate) {}

  struct Arrival {
    double seconds = 0;  ///< since some moment in the past, always the same
    double waited = 0;   ///< the part of them since the last frame in which the next was waited for
  };
  /// The time of a frame with this stamp (NaN: none) that came then, with frames `missing` before it. Never
  /// runs backwards.
  double next(double stamp, const Arrival& arrival, std::int64_t missing = 0);
  /// The next frame comes `seconds` after the last one, whatever its stamp says: a stream came back.
  void jump(double seconds) noexcept;
  /// FrameTimes::set_rate().
  void set_rate(double frame_rate) noexcept { times_.set_rate(frame_rate); }
  /// How long nothing came before the last frame although its stamp follows the one before; 0: no such thing.
  double stalled_seconds() const noexcept { return stalled_; }

  double last() const noexcept { return last_; }
  void add_to(SourceLog& log) const { times_.add_to(log); }

 private:
  FrameTimes times_;
  bool begun_ = false;
  double stamped_ = 0;  ///< time of the last frame by its stamp
  double lead_ = 0;     ///< the most that times by stamps were ever ahead of arrivals
  double behind_ = 0;   ///< what is added to them
  double stalled_ = 0;
  double last_ = 0;
};

}  // namespace sfft::video
