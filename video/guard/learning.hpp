// SPDX-License-Identifier: Apache-2.0
// The guard's template: learned from the first frames of a stream, in bounded memory.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "sfft/dense.hpp"
#include "sfft/plan.hpp"
#include "video/guard/layout.hpp"

namespace sfft::video {

/// What learning leaves: immutable, shared by copies of a guard.
struct Learned {
  Layout layout;
  Plan<float> plan;
  /// What is added to the plan's values of a frame: the exact coefficients of the mean learning frame less
  /// the plan's. What aliases into the plan's values from a scene that stays the same is thus taken out.
  std::vector<std::complex<float>> correction;
  std::vector<std::complex<float>> mean;  ///< exact coefficients of the mean learning frame
  std::vector<float> weights;     ///< of each coefficient, 0 to 1: how steady it is from frame to frame
  std::vector<float> mean_frame;  ///< of the region, row-major
};

/// Takes frames until there are enough. Copies continue independently.
class Learning {
 public:
  /// `region`: of frames whose samples have this type.
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
  std::vector<float> samples_;  ///< sum of the frames
  std::vector<float> power_;    ///< sum of |X|²
  std::vector<std::complex<float>> spectrum_;
};

}  // namespace sfft::video
