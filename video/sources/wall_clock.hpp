// SPDX-License-Identifier: Apache-2.0
// Date and time at which a recording began.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sfft::video {

enum class WallClockSource : std::uint8_t {
  none,           ///< it is not known
  file_name,      ///< local time of the recorder, without a zone
  creation_time,  ///< what the container states; UTC, or with a zone
  time_code,      ///< SMPTE time code: a time of day without a date
  now,            ///< this machine's clock, for cameras and streams; UTC
};
/// "file_name" …; empty for none.
const char* to_string(WallClockSource source) noexcept;

struct WallClock {
  WallClockSource source = WallClockSource::none;
  double seconds = 0;  ///< at Frame::seconds = 0, since 1970-01-01 00:00; of a time code, since midnight
  bool utc = false;    ///< or local time of the recorder

  bool known() const noexcept { return source != WallClockSource::none; }
};

/// ISO 8601 with milliseconds, `seconds` later than the clock: "2026-11-28T00:33:10.040", with a "Z" for UTC;
/// "T01:00:03.000" of a time code; empty where nothing is known.
std::string iso_8601(const WallClock& clock, double seconds);

/// Where a file's name has the date and time, and what.
struct NamedTime {
  WallClock clock;
  std::size_t begin = 0, length = 0;  ///< of the date and time, or the time alone, in the path
};
/// Of names like 2026-11-28_00-33-10, 20261128T003310Z, cam1_20261128003310, and 00.33.10 in a folder
/// 2026-11-28: digits of a possible date from 1990 to 2099, then a time with seconds. Local time, or UTC
/// after a "Z" and in names of Pixel phones (PXL_…).
std::optional<NamedTime> named_time(std::string_view path);

/// A container's date, like 2026-11-28T00:33:10.5Z or with +01:00; without a zone it is UTC. None for
/// anything else and for dates before 1990, which clocks show that were never set.
std::optional<WallClock> stated_time(std::string_view date);

/// "HH:MM:SS:FF" or with another sign before the frames.
std::optional<WallClock> time_code_time(const std::string& code, double fps);

/// This machine's clock at a frame's time 0, when the frame at `seconds` is there.
WallClock present_clock(double seconds);

}  // namespace sfft::video
