// SPDX-License-Identifier: Apache-2.0
// Whether a recording ends where it does because it is over.
#pragma once

#include <cstdint>
#include <string>

namespace sfft::video {

/// What is known about a recording of which no further frame can be decoded.
struct RecordingEnd {
  std::string path{};
  std::int64_t frames = 0;            ///< decoded
  std::int64_t frames_expected = -1;  ///< by index, or by duration and rate; -1: unknown
  std::int64_t frames_indexed = -1;   ///< by index; -1: there is none
  std::int64_t frames_held = -1;      ///< in the packets that were read; -1: not counted
  bool claims_duration = true;        ///< whether the container states its duration
  double frame_rate = 0;
  double last_seconds = 0;   ///< time of the last frame, from the first one on
  std::string read_error{};  ///< what ended the reading, if not the end of the file
};

/// Throws InputError for a recording that is cut or damaged. Returns a sentence for the reader of a report
/// where the container's number of frames is an estimate that was wrong, else nothing. Frame counts decide
/// only if they are not estimates: without an index they are a duration times a rate.
std::string check_recording_end(const RecordingEnd& recording);

}  // namespace sfft::video
