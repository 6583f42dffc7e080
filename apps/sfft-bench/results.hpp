// SPDX-License-Identifier: Apache-2.0
// The rows of a run: printed as they come, and in their files after every group, so that whatever ends the
// run, what was measured is kept.
#pragma once

#include <string>
#include <vector>

#include "report.hpp"
#include "row.hpp"

namespace sfft::apps {

class Results {
 public:
  /// Throws Error(file_unreadable) when a file cannot be written. `json`, `csv`: empty for none.
  Results(RunContext context, std::string json, std::string csv, bool quiet);

  /// Rows that a table shows together.
  void add(const std::vector<Row>& group);
  /// What the files say of the run's end: "complete", "interrupted", or what went wrong. "running" before.
  void finish(const std::string& status);

 private:
  void write() const;

  RunContext context_;
  std::string json_, csv_;
  Table table_;
  std::vector<Row> rows_;
};

}  // namespace sfft::apps
