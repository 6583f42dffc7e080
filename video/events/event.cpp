// SPDX-License-Identifier: Apache-2.0
// Names of the event kinds, and events as JSON.
#include "video/events/event.hpp"

#include <fmt/format.h>

#include <array>

#include "video/report/text.hpp"

namespace sfft::video {

namespace {
constexpr std::array<const char*, kEventKinds> kKindNames{"moved",   "covered", "defocused", "frozen", "dark",
                                                          "blinded", "light",   "flicker",   "offline"};
}

const char* to_string(EventKind kind) noexcept {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::optional<EventKind> event_kind(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kKindNames.size(); ++i)
    if (name == kKindNames[i]) return static_cast<EventKind>(i);
  return std::nullopt;
}

std::string event_line(const Event& event, EventPhase phase) {
  return fmt::format(
      R"({{"event":"{}","id":{},"kind":"{}","source":{},"start_s":{},"end_s":{},"start_frame":{},)"
      R"("end_frame":{},"confidence":{},"shift_px":{},"shift_x":{},"shift_y":{}{},"detail":{},"wall_clock":{},"snapshot":{}{}}})"
      "\n",
      phase == EventPhase::start ? "start" : "end", event.id, to_string(event.kind),
      json_string(event.source), json_number(event.start_s), json_number(event.end_s), event.start_frame,
      event.open() ? "null" : fmt::format("{}", event.end_frame), json_number(event.confidence),
      json_number(event.shift_px), json_number(event.shift_x), json_number(event.shift_y),
      zones_member(event.zones), json_string(event.detail),
      event.wall_clock.empty() ? "null" : json_string(event.wall_clock),
      event.snapshot.empty() ? "null" : json_string(event.snapshot),
      event.file.empty()
          ? ""
          : fmt::format(R"(,"file":{},"file_s":{})", json_string(event.file), json_number(event.file_s)));
}

}  // namespace sfft::video
