// SPDX-License-Identifier: Apache-2.0
// An event stays open until a change that begins now can no longer overlap it.
#include "video/triage/event_list.hpp"

#include <algorithm>
#include <cmath>

#include "video/events/pace.hpp"

namespace sfft::video {

namespace {

/// Seconds without change that end an event.
constexpr double kPause = 0.6;

HysteresisOptions hysteresis(double min_length_s, double fps) {
  HysteresisOptions options;
  options.begin = std::clamp(static_cast<int>(std::lround(min_length_s * fps)), fps < 4 ? 1 : 2, 24);
  options.window = std::min(32, options.begin + options.begin / 3);
  options.end = std::clamp(static_cast<int>(std::lround(kPause * fps)), 1, 1000);
  return options;
}

}  // namespace

EventList::EventList(const EventOptions& options, double fps)
    : options_(options),
      interval_s_(1 / (fps > 0 ? fps : kUnknownRate)),
      condition_(hysteresis(options.min_length_s, 1 / interval_s_)) {}

const Change& EventList::at(std::int64_t frame) const {
  const auto found = std::ranges::lower_bound(past_, frame, {}, &Change::frame);
  return found == past_.end() ? past_.back() : *found;
}

/// The first change of an event that begins now.
const Change& EventList::first_change() const {
  const Change& first = at(condition_.start());
  if (first.score > options_.threshold) return first;
  const double start = first.seconds - StraightPath::kSeconds;
  return *std::ranges::lower_bound(past_, start, {}, &Change::seconds);
}

void EventList::begin() {
  const Change& first = first_change();
  if (!current_) {
    current_ = Current{};
    TriageEvent& event = current_->event;
    event.change_start_s = first.seconds;
    event.start_s = std::max(past_.front().seconds, first.seconds - options_.margin_before_s);
    event.start_frame = std::ranges::lower_bound(past_, event.start_s, {}, &Change::seconds)->frame;
  }
  current_->lasts = true;
  for (auto change = std::ranges::lower_bound(past_, first.frame, {}, &Change::frame); change != past_.end();
       ++change)
    if (change->score > current_->peak.score) current_->peak = *change;
}

std::optional<TriageEvent> EventList::close() {
  TriageEvent event = current_->event;
  const Change& peak = current_->peak;
  event.peak = peak.score;
  event.peak_s = peak.seconds;
  event.peak_frame = peak.frame;
  event.peak_x = peak.x;
  event.peak_y = peak.y;
  event.end_s = std::min(event.change_end_s + options_.margin_after_s, past_.back().seconds + interval_s_);
  const auto after = std::ranges::upper_bound(past_, event.end_s, {}, &Change::seconds);
  event.end_frame = after == past_.end() ? past_.back().frame + 1 : after->frame;
  current_.reset();
  if (event.change_end_s - event.change_start_s < options_.min_length_s - interval_s_) return std::nullopt;
  event.id = ++ids_;
  return event;
}

std::optional<TriageEvent> EventList::add(const Change& change) {
  past_.push_back(change);
  const double moving = kMoving * options_.threshold;
  const bool counts =
      condition_.active() ? lasts(change) : change.score > options_.threshold || change.moving > moving;
  const Hysteresis::Change turn = condition_.update(change.frame, counts);
  std::optional<TriageEvent> over;
  if (turn == Hysteresis::Change::begins) {
    const double start = first_change().seconds;
    if (current_ && start - options_.margin_before_s > current_->event.change_end_s + options_.margin_after_s)
      over = close();
    begin();
  }
  if (turn == Hysteresis::Change::ends) {
    current_->event.change_end_s = at(condition_.end()).seconds;
    current_->lasts = false;
  }
  if (current_ && current_->lasts && change.score > current_->peak.score) current_->peak = change;

  // A change that begins now may turn out to have begun up to 32 frames ago, and its path before that.
  const double reach = options_.margin_before_s + StraightPath::kSeconds + 33 * interval_s_;
  if (current_ && !current_->lasts &&
      change.seconds - reach > current_->event.change_end_s + options_.margin_after_s)
    over = close();
  const double keep = change.seconds - reach - options_.margin_after_s - 2 * kPause;
  while (past_.size() > 64 && past_.front().seconds < keep &&
         !(current_ && !current_->lasts && past_.front().seconds >= current_->event.change_end_s))
    past_.pop_front();
  return over;
}

std::optional<TriageEvent> EventList::finish() {
  if (past_.empty()) return std::nullopt;
  if (condition_.stop(past_.back().frame + 1) == Hysteresis::Change::ends)
    current_->event.change_end_s = past_.back().seconds + interval_s_;
  std::optional<TriageEvent> last = current_ ? close() : std::nullopt;
  past_.clear();  // later events do not reach back
  return last;
}

}  // namespace sfft::video
