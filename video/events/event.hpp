// SPDX-License-Identifier: Apache-2.0
// Events that sub-commands report: one schema for all of them (docs/guard.md).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace sfft::video {

enum class EventKind : std::uint8_t {
  moved,      ///< the picture shows the scene elsewhere, turned or enlarged, or another scene
  covered,    ///< something hides a good part of the scene
  defocused,  ///< fine detail is gone
  frozen,     ///< frames repeat
  dark,       ///< black, or nearly
  blinded,    ///< white, or nearly
  light,      ///< the lighting has changed, the scene has not
  flicker,    ///< brightness goes up and down
  offline,    ///< no frames come
};
inline constexpr int kEventKinds = 9;

const char* to_string(EventKind kind) noexcept;
/// By its name; none for other words.
std::optional<EventKind> event_kind(std::string_view name) noexcept;

/// One event of one source. Times are in seconds from the source's first frame.
struct Event {
  std::int64_t id = 0;  ///< counts the events of a source from 1
  EventKind kind = EventKind::moved;
  std::string source;
  double start_s = 0;
  double end_s = std::numeric_limits<double>::quiet_NaN();  ///< NaN while it lasts
  std::int64_t start_frame = 0;
  std::int64_t end_frame = -1;  ///< the first frame after it; -1 while it lasts
  double confidence = 0;        ///< 0 to 1, the largest until now
  /// Pixels, of events that move the picture: its shift, or that of the picture's corner if that turns or
  /// grows more. NaN where it is not known.
  double shift_px = std::numeric_limits<double>::quiet_NaN();
  double shift_x = std::numeric_limits<double>::quiet_NaN();
  double shift_y = std::numeric_limits<double>::quiet_NaN();
  std::string detail;  ///< a short sentence for people

  bool open() const noexcept { return end_frame < 0; }
};

/// Which part of an event's life a line tells of.
enum class EventPhase : std::uint8_t { start, end };

/// The event as one line of JSON with its line end: {"event": "start", "id": 1, "kind": "moved", …}. Numbers
/// that are not known are null.
std::string event_line(const Event& event, EventPhase phase);

}  // namespace sfft::video
