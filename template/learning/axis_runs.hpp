// SPDX-License-Identifier: Apache-2.0
// The envelope's cells in the storage order of a spectrum's frequencies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/base/math/log_cells.hpp"

namespace sfft::detail {

/// Frequencies first … end − 1 of one axis, all in one cell.
struct AxisRun {
  std::int64_t first, end;
  std::int32_t cell;
};

/// The runs of an axis in ascending order, over all frequencies, or with `half` only those up to extent/2.
inline std::vector<AxisRun> axis_runs(std::int64_t extent, bool half) {
  std::vector<AxisRun> runs;
  for (int cell = 0; cell < log_cells(extent); ++cell) {
    const LogCellMembers members = log_cell_members(cell, extent, half);
    runs.push_back({members.positive_first, members.positive_first + members.positive_count, cell});
    if (members.negative_count > 0)
      runs.push_back({members.negative_first, members.negative_first + members.negative_count, cell});
  }
  std::sort(runs.begin(), runs.end(), [](const AxisRun& a, const AxisRun& b) { return a.first < b.first; });
  return runs;
}

}  // namespace sfft::detail
