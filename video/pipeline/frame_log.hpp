// SPDX-License-Identifier: Apache-2.0
// Keeps records of a run's frames for the reports, in constant memory for any length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sfft/tracker.hpp"

namespace sfft::video {

/// Mean and quantiles of non-negative numbers. Quantiles of up to 1000 numbers are exact. More numbers are
/// counted in cells 1/64 of an octave wide (as in HdrHistogram), and their quantiles are accurate to 0.8 per
/// cent.
class Distribution {
 public:
  void push_back(double value);

  std::size_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  /// NaN if there are no numbers; so is quantile().
  double mean() const noexcept;
  /// The q-quantile (nearest rank).
  double quantile(double q) const;

 private:
  void count(double value) noexcept;

  std::size_t count_ = 0;
  double sum_ = 0, min_ = 0, max_ = 0;
  std::vector<double> first_;         ///< the numbers, while there are up to 1000
  std::vector<std::uint64_t> cells_;  ///< counts, if there are more
};

inline double quantile(const Distribution& values, double q) {
  return values.quantile(q);
}
inline double mean(const Distribution& values) {
  return values.mean();
}

/// What happened to one frame.
struct FrameRecord {
  std::int64_t index = 0;
  TrackedFrame::Action action = TrackedFrame::Action::sparse;
  /// Time in the tracker, with copying but without --similarity. It is at least the time of the copy, even if
  /// the copy overlapped with decoding: decoded frames cannot be transformed faster than they are copied.
  double us = 0;
  double copy_us = 0;                  ///< the part of `us` in which bytes were copied to the GPU
  std::int64_t transferred_bytes = 0;  ///< bytes copied to the GPU
  double relative_error = 0;           ///< estimate that the spectrum reports
  double error_l2 = 0;                 ///< estimate that the spectrum reports
  double residual = 0;
  std::optional<double> true_error;  ///< relative; only for verified frames
  std::optional<bool> covered;       ///< true L2 error <= 2 × reported
  bool finite = true;
  std::string reason;
  std::optional<TrackedFrame::Similarity> similarity;  ///< to the template in use before this frame, if known
};

/// Keeps one record per interval of frames. The intervals double in length whenever there are too many.
class ThinnedRecords {
 public:
  /// Each interval keeps the record with the largest value, so that peaks remain.
  void add(const FrameRecord& record, double value);
  const std::vector<FrameRecord>& records() const noexcept { return records_; }

 private:
  std::vector<FrameRecord> records_;
  std::vector<double> values_;
  std::int64_t stretch_ = 1, in_last_ = 0;
};

class FrameLog {
 public:
  void push_back(const FrameRecord& record);

  std::size_t size() const noexcept { return us.size(); }
  bool empty() const noexcept { return us.empty(); }

  Distribution us, copy_us, transform_us, transferred_bytes, relative_error;
  Distribution true_error;  ///< true relative errors of the verified frames
  std::int64_t covered = 0;
  /// Distributions over the frames whose similarity is known. `similarity_us` is the time to compute it.
  Distribution overlap, correlation, old_energy, similarity_us;

  /// Records for charts: at most 2048 of each kind.
  const std::vector<FrameRecord>& frames() const noexcept { return frames_.records(); }
  const std::vector<FrameRecord>& verified() const noexcept { return verified_.records(); }
  /// Frames on which the reference or the template was renewed.
  const std::vector<FrameRecord>& renewals() const noexcept { return renewals_.records(); }

 private:
  ThinnedRecords frames_, verified_, renewals_;
};

}  // namespace sfft::video
