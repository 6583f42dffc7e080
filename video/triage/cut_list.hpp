// SPDX-License-Identifier: Apache-2.0
// Events as lists that other programs cut recordings by.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "video/triage/recording.hpp"

namespace sfft::video {

/// What is seen of an event in one recording.
struct EventPart {
  double start_s = 0, end_s = 0;  ///< from that recording's first frame
  std::size_t file = 0;           ///< in which the event begins
  std::size_t event = 0;          ///< its place in that file's list
  std::size_t number = 0;         ///< of the part, from 0
};

/// The parts in each file, in order of time. Recordings that continue each other stand one after another.
std::vector<std::vector<EventPart>> event_parts(std::span<const TriageFile> files);

/// The events one after another for FFmpeg's concat demuxer, in the stamps of each file, from the key frame
/// at or before each start. Paths become absolute. Where a recording's clock restarts, stamps are ambiguous:
/// its events are named by their clips, if there are any, or left out. What is left out is added to
/// `problems` in sentences. `track` as in SourceOptions.
std::string triage_ffconcat(std::span<const TriageFile> files, int track, std::vector<std::string>& problems);

/// The same as a CMX 3600 edit decision list. Source times are the file's time code, or count from 0. Rates
/// of 30000/1001 and 60000/1001 are counted as drop frames unless the file's time code says otherwise.
std::string triage_edl(std::span<const TriageFile> files);

}  // namespace sfft::video
