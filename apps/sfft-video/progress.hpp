// SPDX-License-Identifier: Apache-2.0
// Shows the progress of one input, or of several files, on standard error.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "apps/status_line.hpp"

namespace sfft::apps {

class Progress {
 public:
  explicit Progress(bool quiet) : line_(quiet) {}
  /// `expected`: frames, 0 or less if their number is unknown.
  void update(std::int64_t done, std::int64_t expected);

 private:
  StatusLine line_;
};

class TriageProgress {
 public:
  /// Files are weighted by size. A file of unknown size has the mean size of the others.
  TriageProgress(const std::vector<std::string>& files, bool quiet);

  /// Callable from any thread.
  void update(std::size_t file, std::int64_t read, std::int64_t expected);
  void finished(std::size_t file, bool resumed);

  /// Prints if enough time has passed.
  void show();
  void close() { line_.clear(); }

 private:
  struct One {
    std::string name;
    double weight = 1, share = 0;
    std::int64_t read = 0;
    bool begun = false, over = false, resumed = false;
  };
  std::string text(double seconds) const;

  std::mutex mutex_;
  std::vector<One> files_;
  StatusLine line_;
};

}  // namespace sfft::apps
