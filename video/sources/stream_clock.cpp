// SPDX-License-Identifier: Apache-2.0
// Adds the delay of a stream's stalls to its stamps, and removes it as the stamps catch up.
#include "video/sources/stream_clock.hpp"

#include <algorithm>

namespace sfft::video {

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
