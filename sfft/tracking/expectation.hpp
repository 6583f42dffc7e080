// SPDX-License-Identifier: Apache-2.0
// Which of the next frames will be compared with a dense transform, as far as is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "sfft/tracking/calibration.hpp"

namespace sfft::detail {

/// Frames are known by their numbers in the stream.
struct Expectation {
  /// State at the latest look ahead: frames before `ready` had their sparse spectra, the samples of those
  /// before `known` were given, and `dense` dense transforms were done.
  struct Seen {
    std::int64_t ready = 0, known = 0;
    std::size_t dense = 0;
    bool operator==(const Seen&) const = default;
  };

  /// Whether the expectation may have changed. Records `now`, and clears the numbers if so.
  bool outdated(const Seen& now) {
    if (!changed && now == seen) return false;
    changed = false;
    seen = now;
    numbers.clear();
    return true;
  }
  /// Forgets what was found about frames before this one.
  void forget_before(std::int64_t number) {
    found.erase(found.begin(), found.lower_bound(number));
    reports.erase(reports.begin(), reports.lower_bound(number));
  }
  /// Call when the frames to come may get other numbers.
  void forget() {
    found.clear();
    reports.clear();
  }
  /// Call when a new plan or reference makes earlier findings invalid.
  void plan_changed() {
    found.clear();
    changed = true;
  }

  Seen seen;
  bool changed = true;
  std::vector<std::int64_t> numbers;  ///< of the frames that will be compared
  /// What comparisons will find, for frames whose sparse and dense spectra are ready.
  std::map<std::int64_t, Calibration::KnownErrors> found;
  std::map<std::int64_t, Calibration::Report> reports;  ///< of ready sparse spectra
};

}  // namespace sfft::detail
