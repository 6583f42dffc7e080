// SPDX-License-Identifier: Apache-2.0
// Writes results as a table for people, as JSON for bench/plot.py and as CSV for everything else.
#pragma once

#include <string>
#include <vector>

#include "row.hpp"

namespace sfft::apps {

/// Provenance of a result file.
struct RunContext {
  std::string subcommand, command;
  bool quick = false;
  std::string gpu;  ///< empty: no GPU was used
  std::string status = "running";
};

std::string json_text(const RunContext& context, const std::vector<Row>& rows);
std::string csv_text(const std::vector<Row>& rows);

/// Prints rows as they come, with a heading per group of comparable rows.
class Table {
 public:
  explicit Table(bool quiet) : quiet_(quiet) {}
  void print(const std::vector<Row>& group) const;

 private:
  bool quiet_;
};

/// Collects the rows of a run. They are printed as they come, and written to files after every group, so an
/// early end loses no measurement.
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
