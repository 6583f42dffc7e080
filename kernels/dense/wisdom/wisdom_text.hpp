// SPDX-License-Identifier: Apache-2.0
// Reads and writes the JSON of wisdom files (docs/file-formats.md), field by field.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/dense/wisdom/wisdom.hpp"

namespace sfft::detail {

constexpr std::size_t kWisdomBytes = std::size_t{16} << 20;  ///< longest accepted text

struct WisdomRecord {
  WisdomPlatform platform;
  WisdomProblem problem;
  WisdomEntry entry;
};

struct WisdomRecords {
  std::vector<WisdomRecord> records;  ///< the accepted records
  dense::WisdomReport report;
};

/// The reason to ignore a well-formed record; empty to accept it.
using WisdomFilter = std::function<std::string(const WisdomRecord&)>;

/// Returns no records, and the reason, for a text that is not wisdom, has another version or is damaged.
/// Skips single entries that are malformed or that `judge` rejects; the report gives the reason for the first
/// one.
WisdomRecords read_wisdom(const std::string& json, const WisdomFilter& judge);
std::string write_wisdom(const std::vector<WisdomRecord>& records);

}  // namespace sfft::detail
