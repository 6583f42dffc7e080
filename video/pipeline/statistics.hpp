// SPDX-License-Identifier: Apache-2.0
// Quantiles and means of a report's numbers.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/base/math/quantiles.hpp"
#include "video/pipeline/run.hpp"

namespace sfft::video {

using detail::quantile;  // overloads quantile() of a Distribution

inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(values.size());
}

/// The numbers for a run in the JSON report, the summary and the page; NaN if there was nothing to measure.
struct RunStatistics {
  double median_us, p95_us, mean_us, dense_us, speedup;
  std::int64_t verified = 0;
  double error_median, error_p95, error_max, coverage;
  double reported_median;
  /// Medians of the pipeline's stages. Stages overlap, so the slowest one sets the pace.
  double decode_us, copy_us, transform_us, bytes_per_frame;
  double frames_per_batch;      ///< mean
  const char* bottleneck = "";  ///< "decode", "copy" or "transform"; empty if nothing was transformed

  /// Sentences that a reader must know before trusting the numbers.
  std::vector<std::string> warnings;

  /// "decoding sets the pace".
  std::string pace() const {
    const std::string stage = bottleneck;
    return (stage == "decode" ? "decoding"
            : stage == "copy" ? "copying"
                              : "the transform") +
           std::string(" sets the pace");
  }

  explicit RunStatistics(const RunReport& report) {
    const FrameLog& frames = report.frames;
    warnings = report.warnings;
    verified = static_cast<std::int64_t>(frames.true_error.size());
    median_us = quantile(frames.us, 0.5);
    p95_us = quantile(frames.us, 0.95);
    mean_us = mean(frames.us);
    dense_us =
        report.dense.empty() ? std::numeric_limits<double>::quiet_NaN() : quantile(report.dense[0].us, 0.5);
    speedup = dense_us / median_us;
    error_median = quantile(frames.true_error, 0.5);
    error_p95 = quantile(frames.true_error, 0.95);
    error_max = quantile(frames.true_error, 1);
    coverage = verified == 0 ? std::numeric_limits<double>::quiet_NaN()
                             : static_cast<double>(frames.covered) / static_cast<double>(verified);
    reported_median = quantile(frames.relative_error, 0.5);
    decode_us = quantile(report.decode_us, 0.5);
    copy_us = quantile(frames.copy_us, 0.5);
    transform_us = quantile(frames.transform_us, 0.5);
    bytes_per_frame = quantile(frames.transferred_bytes, 0.5);
    frames_per_batch = report.pushes == 0
                           ? std::numeric_limits<double>::quiet_NaN()
                           : static_cast<double>(frames.size()) / static_cast<double>(report.pushes);
    // Fewer frames than this cannot show a share of 5 per cent.
    constexpr std::int64_t kEnough = 20;
    constexpr double kPromised = 0.95;
    if (verified >= kEnough && coverage < kPromised) {
      warnings.push_back(
          fmt::format("The reported errors are too small here: only {:.0f} % of the {} checked frames are "
                      "within twice of them, "
                      "where 95 % are promised. Trust the true errors, or lower --accuracy.",
                      100 * coverage, verified));
    }
    if (frames.empty()) return;
    bottleneck = decode_us >= std::max(copy_us, transform_us) ? "decode"
                 : copy_us > transform_us                     ? "copy"
                                                              : "transform";
  }
};

}  // namespace sfft::video
