// SPDX-License-Identifier: Apache-2.0
// Finds the events of a recording, or of several that continue each other.
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

/// The result of triage for one file.
struct TriageFile {
  std::string path;
  RunStatus status = RunStatus::not_read;
  std::string message;  ///< why it is not complete
  std::vector<std::string> warnings;
  SourceLog input_log;  ///< without what an earlier run read
  std::int64_t frames = 0;
  double seconds = 0;  ///< length: time of the last frame plus its interval
  std::int64_t width = 0, height = 0;
  WallClock begin{};                    ///< date and time of its first frame
  double fps = 0;                       ///< rate of the frames that were read; 0: unknown
  double us_per_frame = 0;              ///< CPU time after decoding
  bool resumed = false;                 ///< taken from the state of an earlier run
  std::int64_t resumed_at_frame = -1;   ///< the first that this run read, after an earlier one; -1: all
  std::string follows{};                ///< the recording that it continues; empty: none
  double sequence_s = 0;                ///< its beginning, from the beginning of the sequence
  std::vector<TriageEvent> events;      ///< those that begin in it
  std::vector<TimelinePoint> timeline;  ///< of the scores
};

/// The state from which an interrupted run can go on: the result until then, and the state of the analysis.
struct TriagePart {
  TriageFile file;
  std::string memory;
};

struct TriageOptions {
  ChangeOptions change;
  EventOptions event;
  SourceOptions source;
  AreaOptions areas{};
  std::int64_t frames = 0;  ///< stop after this many frames of each file; 0: all
  bool thumbnails = false;
  double part_every_s = 5;  ///< min. seconds of real time between two calls of on_part
};

/// `on_event` is called for each event when it is over, and `on_progress` with the numbers of frames read and
/// expected (-1: unknown). Between events, `on_part` is called now and then with the state from which a run
/// can go on.
struct TriageCallbacks {
  std::function<void(const TriageFile& file, const TriageEvent& event)> on_event;
  std::function<void(std::int64_t read, std::int64_t expected)> on_progress;
  std::function<void(TriagePart part)> on_part;
  std::function<void(std::size_t recording)> on_recording{};  ///< the next one of a sequence begins
};

/// Reads the file until its end, a failure, or `stop`. Never throws: the result has what was found until
/// then. With a `part` of an earlier run with the same options it goes on from there, and finds the same as
/// if it had not been interrupted. If the part cannot be used, it starts at the beginning.
TriageFile triage(const std::string& path, const TriageOptions& options, const TriageCallbacks& callbacks,
                  const std::atomic<bool>& stop, const TriagePart* part = nullptr) noexcept;

/// Reads recordings that continue each other (find_sequences()) as one, and returns a result for each. An
/// event belongs to the recording in which it begins. Recordings that cannot be read are skipped. Never
/// throws.
std::vector<TriageFile> triage_sequence(std::span<const std::string> paths, const TriageOptions& options,
                                        const TriageCallbacks& callbacks,
                                        const std::atomic<bool>& stop) noexcept;

}  // namespace sfft::video
