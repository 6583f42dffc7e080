// SPDX-License-Identifier: Apache-2.0
// Rows of the result file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bench/technologies/technology.hpp"

namespace sfft::technologies {

using Json = nlohmann::ordered_json;

/// One setting of one technology on one problem.
struct Row {
  std::string kind;  ///< "time", "sweep", "inverse", "sincos"
  Problem problem;
  Setting setting;
  bool tunable = false;
  std::int64_t launches = 0;
  double traffic_bytes = kNone, prepare_ms = kNone;
  Sample median;
  double wall_p90_us = kNone;
  int runs = 0;
  double relative_l2 = kNone;
  std::string skipped;  ///< why there are no numbers

  /// Time by the device's clock if there is one, otherwise by the wall clock.
  double us() const;
  bool passed() const { return skipped.empty() && relative_l2 <= problem.bound(); }
};

Json to_json(const Entry& entry, const Facts& facts, const Row& row);
Json to_json(const Entry& entry, const Facts& facts);
/// A row without numbers, for a technology without a device or a problem that ended its process.
Json missing(const Entry& entry, const Problem* problem, const std::string& reason);

}  // namespace sfft::technologies
