// SPDX-License-Identifier: Apache-2.0
// The library's dense plans as contenders beside cuFFT and VkFFT.
#pragma once

#include <memory>
#include <string>

#include "bench/cuda/dense_case.hpp"
#include "sfft/dense.hpp"

namespace sfft::bench {

/// How the benchmarks plan a problem on the GPU: nothing is scaled.
dense::Options library_options(const DenseCase& what, dense::Engine engine, dense::Planning planning);

/// What a plan says of itself.
struct LibraryPlan {
  double plan_s = 0;  ///< wall clock of the constructor, tuning included
  std::string engine, engine_name, reason;
  std::size_t workspace_bytes = 0;
  std::unique_ptr<Peer> apart, in_place;  ///< the latter null for real transforms
};

/// Throws what the plan throws: Error(backend_unavailable) of an engine that cannot do the problem.
LibraryPlan make_library_plan(const DenseCase& what, dense::Engine engine, dense::Planning planning);

}  // namespace sfft::bench
