// SPDX-License-Identifier: Apache-2.0
// How many samples of a frame a sparse plan may read.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "sfft/error.hpp"

namespace sfft::detail {

/// Samples per coefficient that the automatic budget allows, and the share of the frame.
inline constexpr std::int64_t kSamplesPerCoefficient = 28;
inline constexpr std::int64_t kBudgetDivisor = 12;
/// The same if whole rows cross a bus, where further samples of a row cost little.
inline constexpr std::int64_t kRowSamplesPerCoefficient = 84, kRowBudgetDivisor = 4;
/// More may be read of a short frame: N/12 samples are too few to tell its frequencies apart. Up to 256
/// samples take less time than a dense transform, unless they are more than a quarter of the frame.
inline constexpr std::int64_t kFewSamples = 256, kFewDivisor = 4;
/// Samples in the rows that cross a bus: the larger of a number per coefficient and a share of the frame.
inline constexpr std::int64_t kInRowsPerCoefficient = 400, kInRowsDivisor = 6;

/// The number of samples that a plan of `k` coefficients may read from a frame of `points` samples. `share`:
/// the caller's limit, as a share of the frame; 0: the automatic budget, which is the whole frame if least
/// squares needs it. `by_rows`: whole rows cross a bus. Throws `invalid_argument` for a share of less than
/// one sample.
inline std::int64_t sample_budget(double share, std::int64_t points, std::int64_t k, bool least_squares,
                                  bool by_rows = false) {
  if (share > 0) {
    const double samples = share * static_cast<double>(points);
    if (samples < 1)  // 0 samples would be taken for no limit
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("max_samples = {} allows not one sample of {}: give a larger share", share, points));
    return static_cast<std::int64_t>(samples);
  }
  if (least_squares) return points;
  const std::int64_t per_coefficient = by_rows ? kRowSamplesPerCoefficient : kSamplesPerCoefficient;
  const std::int64_t of_frame = std::max(points / (by_rows ? kRowBudgetDivisor : kBudgetDivisor),
                                         std::min(points / kFewDivisor, kFewSamples));
  return std::max<std::int64_t>(1, std::min(of_frame, per_coefficient * k));
}

}  // namespace sfft::detail
