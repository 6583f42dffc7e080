// SPDX-License-Identifier: Apache-2.0
// Writes events as cut lists for other programs.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "video/triage/recording.hpp"

namespace sfft::video {

/// The part of an event that lies in one recording.
struct EventPart {
  double start_s = 0, end_s = 0;  ///< from that recording's first frame
  std::size_t file = 0;           ///< index of the file in which the event begins
  std::size_t event = 0;          ///< its index in that file's list
  std::size_t number = 0;         ///< of this part among those of the event, from 0
};

/// Returns the parts in each file, in order of time. Recordings that continue each other must be adjacent.
std::vector<std::vector<EventPart>> event_parts(std::span<const TriageFile> files);

/// Returns a script for FFmpeg's concat demuxer that plays one event after another. Times are the stamps of
/// each file, from the key frame at or before each start. Paths are absolute. If a recording's clock
/// restarts, stamps are ambiguous: its events are listed by their clips if there are any, and otherwise left
/// out, with a sentence in `problems`. Files with a line end in their name are left out with a comment.
/// `track`: as in SourceOptions.
std::string triage_ffconcat(std::span<const TriageFile> files, int track, std::vector<std::string>& problems);

/// Returns the events as a CMX 3600 edit decision list. Source times are in the file's time code, or count
/// from 0 if it has none. Rates of 30000/1001 and 60000/1001 get drop-frame time code unless the file's says
/// otherwise.
std::string triage_edl(std::span<const TriageFile> files);

}  // namespace sfft::video
