// SPDX-License-Identifier: Apache-2.0
// Runs a command of the user's for every event, beside the work.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "video/events/event.hpp"

namespace sfft::apps {

/// `command` runs under /bin/sh with the event as a line of JSON on standard input and in environment
/// variables (SFFT_EVENT, SFFT_EVENT_ID, SFFT_KIND, SFFT_SOURCE, SFFT_START_S, SFFT_END_S, SFFT_START_FRAME,
/// SFFT_CONFIDENCE, SFFT_SHIFT_PX): nothing of the event becomes part of the command. Commands run one after
/// another on a thread of their own; one that takes longer than the limit is killed with all its children.
class Hook {
 public:
  explicit Hook(std::string command, std::chrono::seconds limit = std::chrono::seconds(30));
  /// Waits for the commands that are due, for at most one limit in all.
  ~Hook();
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;

  /// Never waits. Beyond a few hundred commands that are due, events are left out, which is said once.
  void run(const video::Event& event, video::EventPhase phase);

 private:
  struct Due {
    video::Event event;
    video::EventPhase phase;
  };
  void work();
  void execute(const Due& due);

  std::string command_;
  std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Due> due_;
  bool closing_ = false, said_ = false;
  std::chrono::steady_clock::time_point deadline_{};  ///< when closing
  std::thread thread_;
};

}  // namespace sfft::apps
