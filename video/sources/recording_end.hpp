// SPDX-License-Identifier: Apache-2.0
// Decides whether a recording ended properly, and whether its file is as long as its container says.
#pragma once

#include <cstdint>
#include <string>

namespace sfft::video {

enum class FileEnd : std::uint8_t {
  unknown,  ///< the container does not say, or is unknown
  whole,    ///< the file is as long as its container
  cut,      ///< the container continues past the end of the file
};

/// Reads a few bytes of the outermost structure of MP4, QuickTime, AVI, Matroska, WebM, MPEG-TS, Ogg or FLV.
/// Throws only std::bad_alloc. An unreadable file gives `unknown`.
FileEnd file_end(const std::string& path);

/// Whether this is an MP4 or QuickTime file without its index ("moov"), which most writers add last. Throws
/// only std::bad_alloc.
bool lacks_index(const std::string& path);

/// Facts about a recording from which no further frame can be decoded.
struct RecordingEnd {
  std::string path{};
  std::int64_t frames = 0;            ///< decoded
  std::int64_t frames_expected = -1;  ///< from the index, or duration times rate; -1: unknown
  std::int64_t frames_indexed = -1;   ///< from the index; -1: none
  std::int64_t frames_held = -1;      ///< frames in the packets read; -1: not counted
  bool claims_duration = true;        ///< whether the container states its duration
  double frame_rate = 0;
  double last_seconds = 0;   ///< time of the last frame since the first one
  std::string read_error{};  ///< what ended reading, other than the end of the file
};

/// Throws InputError for a truncated or damaged recording. Returns a sentence for the report if
/// `frames_expected` was a wrong estimate, else nothing: without an index it is a duration times a rate.
/// Fewer frames than expected are an error only if the file may be truncated and the last frame's time falls
/// short of a stated duration.
std::string check_recording_end(const RecordingEnd& recording);

}  // namespace sfft::video
