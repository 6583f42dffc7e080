// SPDX-License-Identifier: Apache-2.0
// Runs a user command for every event, concurrently with the work.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "video/events/event.hpp"

namespace sfft::apps {

/// `command` runs under /bin/sh. It gets the event as a JSON line on standard input and in environment
/// variables (SFFT_EVENT, SFFT_EVENT_ID, SFFT_KIND, SFFT_SOURCE, SFFT_START_S, SFFT_END_S, SFFT_START_FRAME,
/// SFFT_CONFIDENCE, SFFT_SHIFT_PX, SFFT_WALL_CLOCK, SFFT_SNAPSHOT, SFFT_ZONES). No part of the event thus
/// becomes part of the command. Up to 16 commands run concurrently, so a slow one does not delay others.
/// However, the command for an event's end waits for the command for its start. A command that exceeds the
/// time limit is killed with its process group.
class Hook {
 public:
  explicit Hook(std::string command, std::chrono::seconds limit = std::chrono::seconds(30));
  /// Blocks until pending commands have ended, for at most one time limit in total.
  ~Hook();
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;

  /// Does not wait for commands. If 256 commands are pending, further events are dropped, which is reported
  /// once.
  void run(const video::Event& event, video::EventPhase phase);

 private:
  struct Due {
    video::Event event;
    video::EventPhase phase;
  };
  struct Running {
    std::int64_t id;  ///< identifies the event together with `source`
    std::string source;
    pid_t child;
    std::chrono::steady_clock::time_point start;
  };
  void work();
  std::optional<Due> take_next();
  void start(const Due& due);
  bool ended(const Running& one);

  std::string command_;
  std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Due> due_;
  std::vector<Running> running_;  ///< used by the thread
  bool closing_ = false, said_ = false;
  std::chrono::steady_clock::time_point deadline_{};  ///< while closing
  std::thread thread_;
};

}  // namespace sfft::apps
