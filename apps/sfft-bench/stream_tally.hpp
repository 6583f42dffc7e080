// SPDX-License-Identifier: Apache-2.0
// Accumulates the costs of the methods on a recording, and makes rows from them: times, accuracy, and the
// number of frames after which learning and planning pay off.
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
  double first_spectrum = 0;    ///< median time from the first frame to its spectrum, preparation included
  double first_use = kUnknown;  ///< the same for the first use in the process
  std::vector<double> pushed;   ///< for each frame
  std::vector<double> routine;  ///< for each routine frame except the first frame
  std::vector<double> cold, distinct, errors;
  std::string skipped;  ///< why the method is left out

  double learned_and_planned() const;
  /// Mean time per frame after the first one; the excess of the first frame counts as preparation. Routine
  /// frames enter with their median, others with their individual times.
  double frame() const;
  bench::StreamCost cost() const { return {std::max(0.0, first_spectrum - frame()), frame()}; }
  bench::StreamCost first_use_cost() const { return {std::max(0.0, first_use - frame()), frame()}; }
  /// Entry n is the time for learning, planning and n frames.
  std::vector<double> running_totals() const;
};

/// Transforms the frame and times it.
void measure_frame(FrameTransform& transform, const FrameBuffer& frame, StreamTally& tally);
/// Prepares `transform` and transforms the first frame, several times. The last preparation stays.
void measure_preparation(FrameTransform& transform, const FrameBuffer& first, StreamTally& tally);

/// The recording that rows are about.
struct StreamContext {
  std::string recording;
  Shape shape{1};
  std::int64_t frames = 0;
};

Row stream_row(const StreamContext& context, const FrameTransform& transform, const StreamTally& tally);

/// Makes a break-even row against a peer. `ours` is a copy of the contender's row.
Row break_even_row(Row ours, const Row& peer);

/// Returns a row for every pair of a sparse and a dense contender on the same device.
std::vector<Row> break_even_rows(const std::vector<Row>& rows, const FrameTransforms& transforms,
                                 const std::vector<StreamTally>& tallies);

}  // namespace sfft::apps
