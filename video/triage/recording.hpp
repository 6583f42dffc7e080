// SPDX-License-Identifier: Apache-2.0
// Triage of one recording from its first frame to its last.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "video/events/areas.hpp"
#include "video/events/timeline.hpp"
#include "video/sources/run_status.hpp"
#include "video/sources/source.hpp"
#include "video/triage/change_meter.hpp"
#include "video/triage/event_list.hpp"

namespace sfft::video {

/// What became of a file.
struct TriageFile {
  std::string path;
  RunStatus status = RunStatus::not_read;
  std::string message;  ///< why, when not complete
  std::vector<std::string> warnings;
  SourceLog input_log;  ///< not of what an earlier run read
  std::int64_t frames = 0;
  double seconds = 0;  ///< length: time of the last frame and its interval
  std::int64_t width = 0, height = 0;
  WallClock begin{};                    ///< of its first frame
  double fps = 0;                       ///< of the frames that were read; 0: unknown
  double us_per_frame = 0;              ///< computing time of a thread after decoding
  bool resumed = false;                 ///< taken from the state of an earlier run
  std::int64_t resumed_at_frame = -1;   ///< read from there, after an earlier run; -1: from the beginning
  std::string follows{};                ///< the recording that it continues; empty: none
  double sequence_s = 0;                ///< its beginning, from that of the first recording of the sequence
  std::vector<TriageEvent> events;      ///< that begin in it
  std::vector<TimelinePoint> timeline;  ///< of the score
};

/// Where an interrupted reading can go on: what was found until then, and what the analysis remembers.
struct TriagePart {
  TriageFile file;
  std::string memory;
};

struct TriageOptions {
  ChangeOptions change;
  EventOptions event;
  SourceOptions source;
  AreaOptions areas{};
  std::int64_t frames = 0;  ///< stop after this many of each file; 0: all
  bool thumbnails = false;
  double part_every_s = 5;  ///< seconds of this machine's clock between two calls of on_part
};

/// Called for each event when it is over, with the number of frames read and expected (-1: unknown), and now
/// and then, while no event lasts, with what it takes to go on from there.
struct TriageCallbacks {
  std::function<void(const TriageFile& file, const TriageEvent& event)> on_event;
  std::function<void(std::int64_t read, std::int64_t expected)> on_progress;
  std::function<void(TriagePart part)> on_part;
  std::function<void(std::size_t recording)> on_recording{};  ///< of a sequence: the next one begins
};

/// Reads the file until it ends, breaks, or `stop` is set. Never throws: what was found until a failure is in
/// the result. With a `part` of an earlier reading with the same options it goes on from there and finds the
/// same as if it had not been interrupted; where the part cannot be used, it begins again.
TriageFile triage(const std::string& path, const TriageOptions& options, const TriageCallbacks& callbacks,
                  const std::atomic<bool>& stop, const TriagePart* part = nullptr) noexcept;

/// Reads recordings that continue each other (find_sequences()) as one, and returns what became of each. An
/// event belongs to the recording in which it begins. What cannot be read is left out. Never throws.
std::vector<TriageFile> triage_sequence(std::span<const std::string> paths, const TriageOptions& options,
                                        const TriageCallbacks& callbacks,
                                        const std::atomic<bool>& stop) noexcept;

}  // namespace sfft::video
