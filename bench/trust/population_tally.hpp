// SPDX-License-Identifier: Apache-2.0
// Counts the outcomes of the signals of each family.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sfft::bench {

struct Tally {
  std::int64_t signals = 0, found = 0, dense = 0, unverified = 0, refused = 0;
  std::int64_t silent = 0, missed = 0, values = 0, tail = 0, exempt = 0, exempt_of_read = 0, dense_silent = 0;
  double worst = 0;  ///< largest error of a signal that was not exempt
  std::int64_t worst_signal = -1;
  std::vector<std::int64_t> silent_signals;

  void operator+=(const Tally& other);
};
using Tallies = std::map<std::string, Tally>;  ///< by family

/// Prints a row for each tally and, if `total` is not empty, their sum under that name; without `rows`, the
/// sum alone. Returns the same, with all rows, as JSON.
nlohmann::json report(const Tallies& tallies, const std::string& total, bool rows = true);

}  // namespace sfft::bench
