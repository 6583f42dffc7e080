// SPDX-License-Identifier: Apache-2.0
// Collects the rows of a run. They are printed as they come, and written to files after every group, so an
// early end loses no measurement.
#pragma once

#include <string>
#include <vector>

#include "report.hpp"
#include "row.hpp"

namespace sfft::apps {

class Results {
 public:
  /// Throws Error(file_unreadable) if a file cannot be written. `json`, `csv`: empty for none.
  Results(RunContext context, std::string json, std::string csv, bool quiet);

  /// Adds rows that a table shows together. Rows that are not `shown` go only to the files.
  void add(const std::vector<Row>& group, bool shown = true);
  /// Records in the files how the run ended: "complete", "interrupted", or what went wrong. Until then they
  /// say "running".
  void finish(const std::string& status);

 private:
  void write() const;

  RunContext context_;
  std::string json_, csv_;
  Table table_;
  std::vector<Row> rows_;
};

}  // namespace sfft::apps
