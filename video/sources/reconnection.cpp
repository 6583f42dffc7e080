// SPDX-License-Identifier: Apache-2.0
// Time without frames counts from the last frame, whether or not the input could be opened in between.
#include "video/sources/reconnection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace sfft::video {

namespace {
constexpr double kFirstPause = 0.25, kLongestPause = 15;  // seconds
constexpr std::size_t kMaxGaps = 10000;
}  // namespace

Reconnection::Reconnection(std::string path, const SourceOptions& options,
                           const std::atomic<bool>& interrupted)
    : path_(std::move(path)),
      for_seconds_(options.reconnect_seconds),
      stop_(options.stop),
      interrupted_(interrupted) {}

void Reconnection::lose(const std::string& reason, bool in_order, double seconds) {
  if (lost_) return;
  lost_.emplace();
  lost_->start_seconds = seconds;
  lost_->reason = reason;
  in_order_ = in_order;
  pause_ = kFirstPause;
}

bool Reconnection::again(std::int64_t count, const std::function<void()>& open) {
  if (count == 0 && lost_->attempts == 0) last_arrival_ = Clock::now();
  while (!stopped()) {
    const double left = for_seconds_ - silent();
    if (!(left > 0)) return give_up(count);
    wait(std::min(pause_, left));
    pause_ = std::min(2 * pause_, kLongestPause);
    if (stopped()) break;
    ++lost_->attempts;
    try {
      open();
      return true;
    } catch (const InputError&) {  // it is not back yet
    }
  }
  return false;
}

double Reconnection::arrive(std::int64_t number) {
  double gap = 0;
  if (lost_) {
    gap = lost_->seconds = silent();
    lost_->frame = number;
    note(*lost_);
    lost_.reset();
  }
  last_arrival_ = Clock::now();
  return gap;
}

void Reconnection::note(Gap gap) {
  if (gaps_.size() == kMaxGaps) gaps_.erase(gaps_.begin());
  gaps_.push_back(std::move(gap));
}

bool Reconnection::give_up(std::int64_t count) {
  lost_->seconds = silent();
  lost_->frame = count;
  note(*lost_);
  if (count == 0) throw InputError(fmt::format("'{}' opened but not a single frame can be decoded", path_));
  std::string text = fmt::format("'{}' was lost after frame {} ({})", path_, count, lost_->reason);
  if (for_seconds_ > 0) text += fmt::format(" and did not come back within {:g} s", for_seconds_);
  if (!in_order_) throw InputError(text);
  warning_ = text + ".";
  return false;
}

void Reconnection::wait(double seconds) const {
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (!stopped() && Clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

}  // namespace sfft::video
