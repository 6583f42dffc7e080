// SPDX-License-Identifier: Apache-2.0
// Compares one stream's reported errors with the true ones, frame by frame.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "bench/timing.hpp"
#include "bench/trust/truth.hpp"
#include "sfft/tracker.hpp"

namespace sfft::trust {

using bench::median;

struct FrameRecord {
  std::int64_t index = 0;
  TrackedFrame::Action action = TrackedFrame::Action::sparse;
  bool dense = false;  ///< transformed densely, no matter what the tracker did with it afterwards
  Comparison errors;
};

/// Medians are over sparse frames whose error is above rounding; NaN if a stream has none.
struct ErrorSummary {
  std::int64_t frames = 0;  ///< frames compared
  std::int64_t sparse = 0, dense = 0, refreshed = 0, relearned = 0;
  std::int64_t rounding_only = 0;    ///< sparse frames that are right to rounding
  std::int64_t beyond_twice = 0;     ///< true error above twice the report
  std::int64_t sparse_beyond = 0;    ///< the sparse frames among these
  std::int64_t relative_beyond = 0;  ///< the same for relative errors
  std::int64_t settled = 0;          ///< first frame after which no frame is sparse; -1: the last one is
  double ratio = std::numeric_limits<double>::quiet_NaN();           ///< median of reported/true, L2
  double relative_ratio = std::numeric_limits<double>::quiet_NaN();  ///< median of reported/true, relative
  double true_error = std::numeric_limits<double>::quiet_NaN();      ///< median, relative
  double reported_error = std::numeric_limits<double>::quiet_NaN();
  double worst_true = 0;  ///< relative, over all frames

  double coverage() const { return frames > 0 ? 1 - share(beyond_twice, frames) : 1; }
  double sparse_coverage() const { return sparse > 0 ? 1 - share(sparse_beyond, sparse) : 1; }
  static double share(std::int64_t part, std::int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  }
};

ErrorSummary summarise(const std::vector<FrameRecord>& frames);

/// `tracked`: Tracker::Frame of either precision.
template <class Frame>
FrameRecord record(const Frame& tracked, std::int64_t index, const Truth& truth) {
  const bool dense = tracked.action != TrackedFrame::Action::sparse || tracked.spectrum.path == Path::dense;
  return {index, tracked.action, dense, truth.compare(tracked.spectrum)};
}

}  // namespace sfft::trust
