// SPDX-License-Identifier: Apache-2.0
// The library's dense plans as candidates next to cuFFT and VkFFT.
#pragma once

#include <memory>
#include <string>

#include "bench/cuda/dense/case.hpp"
#include "sfft/dense.hpp"

namespace sfft::bench {

/// The options with which the benchmarks plan a problem on the GPU, without scaling.
dense::Options library_options(const DenseCase& what, dense::Engine engine,
                               dense::Options::Planning planning);

/// The candidates of a plan, and what the plan reports about itself.
struct LibraryPlan {
  double plan_s = 0;  ///< wall clock of the constructor, including tuning
  std::string engine, engine_name, reason;
  std::size_t workspace_bytes = 0;
  std::unique_ptr<Peer> apart, in_place;  ///< in_place is null for real transforms
};

/// Throws the plan's exceptions: Error(backend_unavailable) for an engine that does not support the problem.
LibraryPlan make_library_plan(const DenseCase& what, dense::Engine engine, dense::Options::Planning planning);

}  // namespace sfft::bench
