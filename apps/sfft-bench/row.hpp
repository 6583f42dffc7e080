// SPDX-License-Identifier: Apache-2.0
// One line of a result: what was measured, how accurate it was, how long it took.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace sfft::apps {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// NaN where a number does not apply: null in JSON, empty in CSV, a dash in the table.
struct Row {
  std::string figure;  ///< "time_vs_n", "time_vs_k", "error_vs_snr", "dense", "video"
  std::string contender, device = "cpu";
  std::string shape;  ///< "4194304", "1080x1920"
  std::int64_t points = 0;
  std::int64_t nominal_points = 0;  ///< length on the axis: a contender may have to take another
  std::int64_t k = 0;               ///< 0 for dense transforms
  double snr_db = kUnknown;         ///< total signal power over total noise power; NaN: no noise
  std::int64_t frames = 0;          ///< frames of a recording transformed so far
  std::int64_t signals = 0;         ///< number of signals that medians and means are taken over
  double missed = kUnknown;         ///< mean share of the true support that was not reported
  double relative_l2 = kUnknown;    ///< median of ‖X̂ − X‖/‖X‖ over the true support
  double worst_l2 = kUnknown;
  double mean_error = kUnknown;   ///< mean of |X̂ − X|/N, coefficients being N
  double noise_floor = kUnknown;  ///< mean_error of a full FFT: √(π/4)·√(k/(SNR·N))
  double samples_read = kUnknown;
  double plan_ms = kUnknown;
  double cold_us = kUnknown;   ///< with caches evicted before
  double warm_us = kUnknown;   ///< with the same signal again
  double total_ms = kUnknown;  ///< total for `frames` frames with learning and planning
  std::string detail;
  std::string skipped;  ///< why there are no numbers
};

}  // namespace sfft::apps
