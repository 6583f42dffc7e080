// SPDX-License-Identifier: Apache-2.0
// Guards one source from its first frame to its last.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "video/events/areas.hpp"
#include "video/events/timeline.hpp"
#include "video/guard/guard.hpp"
#include "video/sources/run_status.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

/// The result for a source. Only its latest events are kept. Recordings that continue each other are one
/// source: times and frames count on from its first recording.
struct WatchReport {
  /// One of several recordings.
  struct Recording {
    std::string path;
    double start_s = 0;  ///< of its first frame
    std::int64_t frames = 0;
  };

  SourceInfo input;                   ///< of the first recording
  std::vector<Recording> recordings;  ///< if there are several
  RunStatus status = RunStatus::complete;
  std::string message;  ///< why, when not complete
  std::vector<std::string> warnings;
  SourceLog input_log;
  std::int64_t frames = 0;
  std::int64_t made_up = 0;  ///< frames with Frame::made_up
  double seconds = 0;        ///< time of the last frame
  double us_per_frame = 0;
  std::vector<Event> events;  ///< in the order of their starts
  std::int64_t events_left_out = 0;
  std::array<std::int64_t, kEventKinds> counts{};
  Timeline shift, changed, sharpness, level;
  Frame first_frame;
  std::string snapshot_problem;  ///< why a picture of an event could not be written
};

struct WatchOptions {
  GuardOptions guard;
  SourceOptions source;
  AreaOptions areas{};
  double silence_s = 5;     ///< a live source without frames for this time is offline
  std::int64_t frames = 0;  ///< stop after this many; 0: all
  std::string snapshots{};  ///< prefix of the files of Snapshots; empty: none are written
  std::function<void(const std::string&)> may_write{};
};

/// Called for every event that begins or ends, on the thread that calls watch().
using EventCallback = std::function<void(const Event& event, EventPhase phase)>;

/// Opens and guards the input until it ends, breaks, or `stop` is set. Several inputs are recordings that
/// continue each other (find_sequences()); a damaged one does not end the others. A stream or camera that is
/// not available is opened repeatedly, like one that was lost. Never throws: the report holds what was seen
/// until a failure.
WatchReport watch(std::span<const std::string> inputs, const WatchOptions& options,
                  const EventCallback& on_event, const std::atomic<bool>& stop) noexcept;

}  // namespace sfft::video
