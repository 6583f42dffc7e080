// SPDX-License-Identifier: Apache-2.0
// Turns changes that last into events of a recording, with margins, and merges events that then overlap.
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
  double min_length_s = 0.2;  ///< shorter changes do not count
};

/// A stretch of a recording in which something changes.
struct TriageEvent {
  std::int64_t id = 0;  ///< counts the events of a file from 1
  double start_s = 0, end_s = 0;
  std::int64_t start_frame = 0;                 ///< by number among the frames that are read
  std::int64_t end_frame = 0;                   ///< the first frame after it
  double change_start_s = 0, change_end_s = 0;  ///< without the margins
  double peak = 0;                              ///< the largest score
  double peak_s = 0;
  std::int64_t peak_frame = 0;
  double peak_x = 0, peak_y = 0;     ///< the place in the frame, in pixels
  std::string thumbnail;             ///< the frame at the peak as a data URI; empty: none
  std::vector<std::string> zones{};  ///< the zones in which something changed
  /// Paths of its clips, one for each recording that it is in; an empty one was not written.
  std::vector<std::string> clips{};
  /// The recording in which it ends, if that continues this one; empty: this one. `end_s` and `end_frame`
  /// still count from the beginning of this one.
  std::string end_file{};
  double end_file_s = 0;  ///< from that recording's first frame
};

/// Takes changes in order. Use one list per recording.
class EventList {
 public:
  /// An event goes on while scores are above this fraction of the threshold.
  static constexpr double kRelease = 0.9;
  /// What moves in a straight line counts above this fraction of the threshold. Of 80 faint people in drawn
  /// nights, 2 are missed instead of 12, and there are no more false events.
  static constexpr double kMoving = 0.5;

  EventList(const EventOptions& options, double fps);

  /// Takes the next change. Returns an event that no later change can extend, if there is one.
  std::optional<TriageEvent> add(const Change& change);
  /// Returns the last event, if it has not been returned. Later changes belong to other events.
  std::optional<TriageEvent> finish();

  /// Whether a change counts during an event.
  bool lasts(const Change& change) const noexcept {
    return change.score > kRelease * options_.threshold || change.moving > kMoving * options_.threshold;
  }
  /// Whether no change has begun that could still belong to an event.
  bool idle() const noexcept { return !current_ && !condition_.active() && !condition_.pending(); }
  /// The whole state of an idle list.
  template <class Archive>
  void archive(Archive& bytes) {
    bytes(past_, ids_);
  }

  /// The change at the peak of the current event; null if there is none.
  const Change* peak() const noexcept { return current_ ? &current_->peak : nullptr; }

 private:
  struct Current {
    TriageEvent event;
    Change peak;
    bool lasts = true;
  };
  const Change& first_change() const;
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
