// SPDX-License-Identifier: Apache-2.0
// The library's dense plans as contenders next to cuFFT and VkFFT.
#pragma once

#include <memory>
#include <string>

#include "bench/cuda/dense/case.hpp"
#include "sfft/dense.hpp"

namespace sfft::bench {

/// Options with which the benchmarks plan a problem on the GPU, without scaling.
dense::Options library_options(const DenseCase& what, dense::Engine engine, dense::Planning planning);

/// A plan's contenders, and what it says about itself.
struct LibraryPlan {
  double plan_s = 0;  ///< wall clock of the constructor, tuning included
  std::string engine, engine_name, reason;
  std::size_t workspace_bytes = 0;
  std::unique_ptr<Peer> apart, in_place;  ///< the latter null for real transforms
};

/// Throws as the plan does: Error(backend_unavailable) for an engine that does not support the problem.
LibraryPlan make_library_plan(const DenseCase& what, dense::Engine engine, dense::Planning planning);

}  // namespace sfft::bench
