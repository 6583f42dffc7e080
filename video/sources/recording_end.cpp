// SPDX-License-Identifier: Apache-2.0
// Compares the number of decoded frames with the file's length, packets, index and duration.
#include "video/sources/recording_end.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "video/sources/file_end.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

namespace {

bool short_of(const RecordingEnd& recording, std::int64_t frames) {
  return frames - recording.frames > std::max<std::int64_t>(2, frames / 200);
}

/// Whether the last frame's time agrees with the duration that gave the estimate.
bool times_reach_the_end(const RecordingEnd& recording) {
  if (!(recording.frame_rate > 0)) return false;
  const double duration = static_cast<double>(recording.frames_expected) / recording.frame_rate;
  const double gap =
      recording.last_seconds / static_cast<double>(std::max<std::int64_t>(1, recording.frames - 1));
  return recording.last_seconds + 2 * gap >= 0.995 * duration;
}

}  // namespace

std::string check_recording_end(const RecordingEnd& recording) {
  const FileEnd end = file_end(recording.path);
  const bool all_of_its_index = recording.frames_indexed > 0 && recording.frames >= recording.frames_indexed;
  if (end == FileEnd::cut && !all_of_its_index) {
    throw InputError(
        fmt::format("'{}' is truncated: the file ends before its container does, after {} frames",
                    recording.path, recording.frames));
  }
  if (!recording.read_error.empty()) {
    throw InputError(fmt::format("'{}' cannot be read after frame {}: {}", recording.path, recording.frames,
                                 recording.read_error));
  }
  if (short_of(recording, recording.frames_held)) {
    throw InputError(fmt::format("'{}' holds {} frames but only {} can be decoded: it is damaged",
                                 recording.path, recording.frames_held, recording.frames));
  }
  if (!short_of(recording, recording.frames_expected)) return "";
  if (end != FileEnd::whole && recording.claims_duration && !times_reach_the_end(recording)) {
    throw InputError(
        fmt::format("'{}' promises {} frames but only {} can be read: it is truncated or damaged",
                    recording.path, recording.frames_expected, recording.frames));
  }
  return fmt::format(
      "The container speaks of {} frames by its duration and rate, and holds {}: frames follow each other at "
      "varying intervals, or were left out before this file was written.",
      recording.frames_expected, recording.frames);
}

}  // namespace sfft::video
