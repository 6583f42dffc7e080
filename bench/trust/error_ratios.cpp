// SPDX-License-Identifier: Apache-2.0
// Splits a stream's frames into dense ones, sparse ones that are right to rounding, and the rest, whose
// ratios of reported to true error enter the medians.
#include "bench/trust/error_ratios.hpp"

#include <algorithm>

namespace sfft::trust {

ErrorSummary summarise(const std::vector<FrameRecord>& frames) {
  ErrorSummary summary;
  std::vector<double> ratios;
  std::vector<double> relative_ratios;
  std::vector<double> true_errors;
  std::vector<double> reported;
  for (const FrameRecord& frame : frames) {
    const Comparison& errors = frame.errors;
    ++summary.frames;
    summary.refreshed += frame.action == TrackedFrame::Action::refreshed;
    summary.relearned += frame.action == TrackedFrame::Action::relearned;
    summary.dense += frame.dense;
    summary.sparse += !frame.dense;
    summary.beyond_twice += !errors.covered();
    summary.sparse_beyond += !frame.dense && !errors.covered();
    summary.relative_beyond += !errors.relative_covered();
    summary.worst_true = std::max(summary.worst_true, errors.true_relative());
    if (frame.dense) continue;
    summary.settled = frame.index + 1;
    if (errors.rounding_only()) {
      ++summary.rounding_only;
      continue;
    }
    ratios.push_back(errors.reported_l2 / errors.true_l2);
    relative_ratios.push_back(errors.reported_relative / errors.true_relative());
    true_errors.push_back(errors.true_relative());
    reported.push_back(errors.reported_relative);
  }
  if (!frames.empty() && !frames.back().dense) summary.settled = -1;
  summary.ratio = median(std::move(ratios));
  summary.relative_ratio = median(std::move(relative_ratios));
  summary.true_error = median(std::move(true_errors));
  summary.reported_error = median(std::move(reported));
  return summary;
}

}  // namespace sfft::trust
