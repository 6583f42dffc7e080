// SPDX-License-Identifier: Apache-2.0
// Events that go on from one recording into the next, recording by recording.
#pragma once

#include <cstddef>
#include <span>
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

}  // namespace sfft::video
