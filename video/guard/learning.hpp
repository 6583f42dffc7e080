// SPDX-License-Identifier: Apache-2.0
// Learns the guard's template from the first frames of a stream, in bounded memory.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "sfft/dense.hpp"
#include "sfft/plan.hpp"
#include "video/guard/layout.hpp"

namespace sfft::video {

/// The result of learning. It is immutable and shared by copies of a guard.
struct Learned {
  Layout layout;
  Plan<float> plan;
  /// Added to the plan's values of a frame: the exact coefficients of the mean learning frame minus the
  /// plan's. This removes the aliasing from a scene that stays the same.
  std::vector<std::complex<float>> correction;
  std::vector<std::complex<float>> mean;  ///< exact coefficients of the mean learning frame
  std::vector<float> weights;             ///< how steady each coefficient is from frame to frame, 0 to 1
  std::vector<float> mean_frame;          ///< mean learning frame of the region, row-major
};

/// Sums frames until finish(). Copies continue independently.
class Learning {
 public:
  /// `region`: the part of the frames that is learned. `k`: about this many coefficients. `max_samples`:
  /// share of the pixels that the plan may read; 0: the plan's default.
  Learning(const Region& region, int k, double max_samples);

  void add(const SignalView& region_of_frame);
  int frames() const noexcept { return frames_; }
  /// Makes the template and its plan. Takes some milliseconds to a second.
  std::shared_ptr<const Learned> finish() const;

 private:
  Region region_;
  int k_;
  double max_samples_;
  int frames_ = 0;
  dense::Plan<float> plan_;
  std::vector<float> samples_;  ///< sum of the frames, row-major
  std::vector<float> power_;    ///< sum of |X|²
  std::vector<std::complex<float>> spectrum_;
};

}  // namespace sfft::video
