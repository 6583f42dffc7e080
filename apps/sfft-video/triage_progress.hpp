// SPDX-License-Identifier: Apache-2.0
// Progress of several files at once: that of the whole, and of each file that is being read.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace sfft::apps {

class TriageProgress {
 public:
  /// Files count by their size; those whose size is unknown like the mean of the others.
  TriageProgress(const std::vector<std::string>& files, bool quiet);
  ~TriageProgress();
  TriageProgress(const TriageProgress&) = delete;
  TriageProgress& operator=(const TriageProgress&) = delete;

  /// From any thread.
  void update(std::size_t file, std::int64_t read, std::int64_t expected);
  void finished(std::size_t file, bool resumed);

  /// Prints if it is time: ten times per second on a terminal, once in five seconds elsewhere.
  void show();
  /// Ends the rewritten line.
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  struct One {
    std::string name;
    double weight = 1, share = 0;
    std::int64_t read = 0;
    bool begun = false, over = false, resumed = false;
  };
  std::string line(double seconds) const;

  std::mutex mutex_;
  std::vector<One> files_;
  bool quiet_, terminal_, line_open_ = false;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace sfft::apps
