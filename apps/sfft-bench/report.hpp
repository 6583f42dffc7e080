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

}  // namespace sfft::apps
