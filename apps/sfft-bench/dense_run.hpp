// SPDX-License-Identifier: Apache-2.0
// A dense engine planned for one shape, and its times so far.
#pragma once

#include <complex>
#include <functional>
#include <string>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::apps {

struct DenseRun {
  std::string name, device = "cpu", detail;
  int threads = 1;
  std::string planner, skipped;  ///< see Row
  double plan_seconds = 0;
  std::function<double()> cold, warm;  ///< time of one cold execution, and of a warm one, in seconds
  std::function<std::vector<std::complex<float>>()> output;
  std::vector<double> cold_times, warm_times;
};

/// cuFFT of a float or complex float signal in GPU memory.
DenseRun cuda_dense_run(const SignalView& signal);

}  // namespace sfft::apps
