// SPDX-License-Identifier: Apache-2.0
// Accumulated costs of the methods on a recording, and the resulting rows: times, accuracy, and when learning
// and planning are paid back.
#pragma once

#include <algorithm>
#include <complex>
#include <span>
#include <string>
#include <vector>

#include "bench/break_even.hpp"
#include "frame_transform.hpp"
#include "row.hpp"

namespace sfft::apps {

/// Times in seconds.
struct StreamTally {
  Preparation prepared;         ///< medians
  double first_spectrum = 0;    ///< median time from having the first frame to having its spectrum
  double first_use = kUnknown;  ///< the same, for the first time in the process
  std::vector<double> pushed;   ///< frame by frame
  std::vector<double> routine;  ///< for routine frames, without the first
  std::vector<double> cold, distinct, errors;
  std::string skipped;  ///< why it takes no part

  double learned_and_planned() const;
  /// Time per frame after the first, whose excess counts as preparation: routine frames by their median,
  /// others by their own times.
  double frame() const;
  bench::StreamCost cost() const { return {std::max(0.0, first_spectrum - frame()), frame()}; }
  bench::StreamCost first_use_cost() const { return {std::max(0.0, first_use - frame()), frame()}; }
  /// Entry n: learning, planning and n frames.
  std::vector<double> running_totals() const;
};

/// Transforms the frame and times it.
void measure_frame(FrameTransform& transform, const FrameBuffer& frame, StreamTally& tally);
/// Prepares `transform` several times, transforming the first frame each time; the last preparation stays.
void measure_preparation(FrameTransform& transform, const FrameBuffer& first, StreamTally& tally);

/// The recording that rows are about.
struct StreamContext {
  std::string recording;
  Shape shape{1};
  std::int64_t frames = 0;
};

Row stream_row(const StreamContext& context, const FrameTransform& transform, const StreamTally& tally);

/// Fills in a break-even row against a peer. `ours` is a copy of the contender's own row.
Row break_even_row(Row ours, const Row& peer);

/// A row for every sparse contender and every dense one of the same device.
std::vector<Row> break_even_rows(const std::vector<Row>& rows, const FrameTransforms& transforms,
                                 const std::vector<StreamTally>& tallies);

}  // namespace sfft::apps
