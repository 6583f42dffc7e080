// SPDX-License-Identifier: Apache-2.0
// Events of a recording: where changes last, with margins, merged where these overlap.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "video/events/hysteresis.hpp"
#include "video/triage/change_meter.hpp"

namespace sfft::video {

struct EventOptions {
  double threshold = 4;        ///< of Change::score
  double margin_before_s = 1;  ///< added to each event
  double margin_after_s = 1;
  double min_length_s = 0.2;  ///< shorter changes are no events
};

/// A stretch of a recording in which something changes.
struct TriageEvent {
  std::int64_t id = 0;  ///< counts the events of a file from 1
  double start_s = 0, end_s = 0;
  std::int64_t start_frame = 0;                 ///< counts the frames that are read
  std::int64_t end_frame = 0;                   ///< the first frame after it
  double change_start_s = 0, change_end_s = 0;  ///< without the margins
  double peak = 0;                              ///< the largest score
  double peak_s = 0;
  std::int64_t peak_frame = 0;
  double peak_x = 0, peak_y = 0;     ///< where in the frame, in pixels
  std::string thumbnail;             ///< the frame at the peak, as a data URI; empty: none was asked for
  std::vector<std::string> zones{};  ///< in which something changed
  /// Files that it was cut out as: one for each recording that it is in.
  std::vector<std::string> clips{};
  /// Where it ends in a recording that continues this one; empty: in this one. `end_s` and `end_frame` then
  /// count on beyond this one.
  std::string end_file{};
  double end_file_s = 0;  ///< from that recording's first frame
};

/// Takes changes in order. One list per recording.
class EventList {
 public:
  /// Part of its starting threshold down to which an event goes on.
  static constexpr double kRelease = 0.9;

  EventList(const EventOptions& options, double fps);

  /// Returns the event that is over and that no later change can extend, if there is one.
  std::optional<TriageEvent> add(const Change& change);
  /// The last event, if it is not over. Changes that follow are a stretch of their own.
  std::optional<TriageEvent> finish();

  /// Whether no change has begun that could still become an event, or part of one.
  bool idle() const noexcept { return !current_ && !condition_.active() && !condition_.pending(); }
  /// All state of an idle list.
  template <class Archive>
  void archive(Archive& bytes) {
    bytes(past_, ids_);
  }

  /// The change at the peak of the present event; null while nothing happens.
  const Change* peak() const noexcept { return current_ ? &current_->peak : nullptr; }

 private:
  struct Current {
    TriageEvent event;
    Change peak;
    bool lasts = true;
  };
  void begin();
  std::optional<TriageEvent> close();
  const Change& at(std::int64_t frame) const;

  EventOptions options_;
  double interval_s_;
  Hysteresis condition_;
  std::deque<Change> past_;
  std::optional<Current> current_;
  std::int64_t ids_ = 0;
};

}  // namespace sfft::video
