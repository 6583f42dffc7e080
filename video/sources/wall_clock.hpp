// SPDX-License-Identifier: Apache-2.0
// The date and time at which a recording began.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sfft::video {

enum class WallClockSource : std::uint8_t {
  none,           ///< unknown
  file_name,      ///< local time of the recorder, without a zone
  creation_time,  ///< what the container states; UTC, or with a zone
  time_code,      ///< SMPTE time code: a time of day without a date
  now,            ///< this machine's clock, for cameras and streams; UTC
};
/// "file_name" …; empty for none.
const char* to_string(WallClockSource source) noexcept;

struct WallClock {
  WallClockSource source = WallClockSource::none;
  double seconds = 0;  ///< at Frame::seconds = 0, since 1970-01-01 00:00; for a time code, since midnight
  bool utc = false;    ///< false: local time of the recorder

  bool known() const noexcept { return source != WallClockSource::none; }
};

/// Formats `seconds` after the clock's time as ISO 8601 with milliseconds: "2026-11-28T00:33:10.040", with a
/// "Z" for UTC, or "T01:00:03.000" for a time code. Empty if the clock is unknown.
std::string iso_8601(const WallClock& clock, double seconds);

/// The date and time in a file's name, and their position.
struct NamedTime {
  WallClock clock;
  std::size_t begin = 0, length = 0;  ///< position of the date and time, or of the time alone, in the path
};
/// Finds the time in names like 2026-11-28_00-33-10, 20261128T003310Z, cam1_20261128003310, and 00.33.10 in a
/// folder 2026-11-28: digits of a possible date from 1990 to 2099, then a time with seconds. It is local
/// time, or UTC after a "Z" and in names of Pixel phones (PXL_…).
std::optional<NamedTime> named_time(std::string_view path);

/// Parses a container's date, like 2026-11-28T00:33:10.5Z or with +01:00; without a zone it is UTC. Returns
/// nothing for other texts, for dates before 1990, which come from clocks that were never set, and for dates
/// after 2099.
std::optional<WallClock> stated_time(std::string_view date);

/// Parses "HH:MM:SS:FF"; another character may precede the frames.
std::optional<WallClock> time_code_time(const std::string& code, double fps);

/// This machine's clock at Frame::seconds = 0, if the frame at `seconds` arrives now.
WallClock present_clock(double seconds);

}  // namespace sfft::video
