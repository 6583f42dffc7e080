// SPDX-License-Identifier: Apache-2.0
// What the reports keep of every frame of a run, in constant memory however long it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sfft/tracker.hpp"
#include "video/distribution.hpp"

namespace sfft::video {

/// What happened to one frame.
struct FrameRecord {
  std::int64_t index = 0;
  TrackAction action = TrackAction::sparse;
  double us = 0;                       ///< in the tracker, copying included
  double copy_us = 0;                  ///< of which its bytes were on their way to the GPU
  std::int64_t transferred_bytes = 0;  ///< to the GPU
  double relative_error = 0;           ///< reported
  double error_l2 = 0;                 ///< reported
  double residual = 0;
  std::optional<double> true_error;  ///< relative, where verified
  std::optional<bool> covered;       ///< true L2 error <= 2 × reported
  bool finite = true;
  std::string reason;
};

/// A record of each stretch of frames: stretches double in length whenever there are too many.
class ThinnedRecords {
 public:
  /// Of each stretch the record with the largest value stays, so that peaks stay.
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
  Distribution true_error;  ///< of the verified frames
  std::int64_t covered = 0;

  /// For charts: at most some 2000 of each.
  const std::vector<FrameRecord>& frames() const noexcept { return frames_.records(); }
  const std::vector<FrameRecord>& verified() const noexcept { return verified_.records(); }
  /// Frames on which the reference or the template was renewed.
  const std::vector<FrameRecord>& renewals() const noexcept { return renewals_.records(); }

 private:
  ThinnedRecords frames_, verified_, renewals_;
};

}  // namespace sfft::video
