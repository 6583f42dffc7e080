// SPDX-License-Identifier: Apache-2.0
// Progress of several files at once: that of the whole, and of each file that is being read.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "apps/status_line.hpp"

namespace sfft::apps {

class TriageProgress {
 public:
  /// Files count by their size; those whose size is unknown like the mean of the others.
  TriageProgress(const std::vector<std::string>& files, bool quiet);

  /// From any thread.
  void update(std::size_t file, std::int64_t read, std::int64_t expected);
  void finished(std::size_t file, bool resumed);

  /// Prints if it is time.
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
