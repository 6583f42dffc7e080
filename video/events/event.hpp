// SPDX-License-Identifier: Apache-2.0
// Events that sub-commands report; they share one schema (docs/guard.md).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sfft::video {

enum class EventKind : std::uint8_t {
  moved,      ///< the picture shows the scene shifted, turned or enlarged, or another scene
  covered,    ///< something hides a good part of the scene
  defocused,  ///< fine detail is gone
  frozen,     ///< frames repeat
  dark,       ///< black, or nearly
  blinded,    ///< white, or nearly
  light,      ///< the lighting has changed, not the scene
  flicker,    ///< brightness oscillates
  offline,    ///< no frames arrive
};
inline constexpr int kEventKinds = 9;

const char* to_string(EventKind kind) noexcept;
/// The kind with this name; none for other words.
std::optional<EventKind> event_kind(std::string_view name) noexcept;

/// One event of one source. Times are in seconds from the source's first frame.
struct Event {
  std::int64_t id = 0;  ///< counts from 1 within a source
  EventKind kind = EventKind::moved;
  std::string source;
  double start_s = 0;
  double end_s = std::numeric_limits<double>::quiet_NaN();  ///< NaN while it lasts
  std::int64_t start_frame = 0;
  std::int64_t end_frame = -1;  ///< the first frame after it; -1 while it lasts
  double confidence = 0;        ///< 0 to 1, the maximum so far
  /// Shift in pixels, for events that move the picture; if it rotates or scales more than that, the shift of
  /// its corner. NaN if unknown.
  double shift_px = std::numeric_limits<double>::quiet_NaN();
  double shift_x = std::numeric_limits<double>::quiet_NaN();
  double shift_y = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::string> zones{};  ///< zones in which it is seen
  std::string detail;                ///< a short sentence for people
  std::string wall_clock{};          ///< date and time of its start, as iso_8601() writes it; empty: unknown
  std::string snapshot{};            ///< a file with a picture of it; empty: none
  std::string file{};  ///< of recordings that continue each other: the one in which it begins; else empty
  double file_s = 0;   ///< where in it

  bool open() const noexcept { return end_frame < 0; }
};

/// The phase of an event that a line reports.
enum class EventPhase : std::uint8_t { start, end };

/// The event as one line of JSON, newline included: {"event": "start", "id": 1, "kind": "moved", …}. Unknown
/// numbers are null.
std::string event_line(const Event& event, EventPhase phase);

}  // namespace sfft::video
