// SPDX-License-Identifier: Apache-2.0
// Keeps the origin to which time stamps are relative. The origin moves when a stream comes back, and when its
// clock restarts.
#include "video/sources/frame_times.hpp"

#include <algorithm>
#include <cmath>

namespace sfft::video {

void FrameTimes::set_origin(double stamp) noexcept {
  if (!std::isfinite(stamp)) return;
  origin_ = stamp;
  origin_known_ = true;
}

void FrameTimes::jump(double seconds) noexcept {
  if (begun_) jump_ = seconds;
}

void FrameTimes::leave_out_interval() noexcept {
  if (measured_ == 0) return;
  --measured_;
  measured_seconds_ -= latest_interval_;
  latest_interval_ = 0;
}

double FrameTimes::next(double stamp, std::int64_t missing) {
  ++frames_;
  const bool stamped = std::isfinite(stamp);
  if (stamped && !origin_known_) set_origin(begun_ ? stamp - last_ - interval_ : stamp);
  if (!begun_) {
    begun_ = true;
    if (!stamped) ++without_time_;
    last_ = stamped ? stamp - origin_ : 0;
    return last_;
  }
  const bool jumped = jump_ >= 0;
  const double by_rate = last_ + (jumped ? jump_ : interval_ * static_cast<double>(1 + missing));
  double now = by_rate;
  if (jumped) {
    if (stamped) origin_ = stamp - now;
  } else if (stamped && stamp - origin_ > last_) {
    now = stamp - origin_;
  } else {
    ++without_time_;
    // A stamp this far back means that the clock has restarted, not that one frame is out of order.
    if (stamped && stamp - origin_ < last_ - 1) origin_ = stamp - now;
  }
  if (!jumped) {
    min_ = intervals_ == 0 ? now - last_ : std::min(min_, now - last_);
    max_ = std::max(max_, now - last_);
    ++intervals_;
    latest_interval_ = now - last_;
    measured_seconds_ += latest_interval_;
    ++measured_;
  }
  jump_ = -1;
  last_ = now;
  return now;
}

void FrameTimes::add_to(SourceLog& log) const {
  log.frames_without_time = without_time_;
  // Stamps determine the times even if only few pictures have one.
  const std::int64_t stamped = frames_ - without_time_;
  if (stamped > (frames_ > 1 ? std::max<std::int64_t>(1, frames_ / 50) : 0)) {
    log.timing.source = TimeSource::stamps;
    if (measured_seconds_ > 0) log.timing.measured_fps = static_cast<double>(measured_) / measured_seconds_;
  } else if (frames_ > 0 && interval_ > 0) {
    log.timing.source = TimeSource::claimed_rate;
  }
  if (intervals_ == 0 || !(max_ > 0)) return;
  log.min_interval_seconds = min_;
  log.max_interval_seconds = max_;
}

void StreamClock::jump(double seconds) noexcept {
  times_.jump(seconds + behind_);
  behind_ = 0;
  begun_ = false;
}

double StreamClock::next(double stamp, const Arrival& arrival, std::int64_t missing) {
  constexpr double kStall = 2;  // seconds; network delays are shorter
  const double stamped = times_.next(stamp, missing);
  stalled_ = 0;
  const double ahead = stamped - arrival.seconds;
  if (!begun_) lead_ = ahead;
  const double missed = begun_ ? arrival.waited - (stamped - stamped_) : 0;
  if (missed > kStall) {
    stalled_ = arrival.waited;
    behind_ += missed;
  }
  begun_ = true;
  lead_ = std::max(lead_, ahead);
  // If stamps catch up with the clock, they were right.
  behind_ = std::min(behind_, lead_ - ahead);
  stamped_ = stamped;
  last_ = std::max(last_, stamped + behind_);
  return last_;
}

}  // namespace sfft::video
