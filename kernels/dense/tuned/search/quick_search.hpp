// SPDX-License-Identifier: Apache-2.0
// A search that tries as many kernels as the host's cores compile at the same time.
#pragma once

#include <string>
#include <vector>

#include "kernels/dense/problem/gpu_engine.hpp"
#include "kernels/dense/tuned/codegen/compiler.hpp"
#include "kernels/dense/tuned/policy/limits.hpp"
#include "kernels/dense/tuned/policy/transform_policy.hpp"

namespace sfft::detail::tuned {

/// Tries the policy that the rules choose, one that is known from elsewhere, and variants of the former with
/// another kernel in one step. Compiling takes nearly all of the time, so the number of sources limits the
/// search. The inverse kernels of the rules' policy are compiled together with the forward ones; if another
/// policy is clearly faster, its inverse kernels are compiled later.
template <class Real>
class QuickSearch {
 public:
  /// `known`: the text of a policy for another batch of the same transform, or nothing. Throws
  /// Error(backend_unavailable) if NVRTC is missing, the engine has no kernel for the problem, or the host
  /// has too few cores to compile one transform in time.
  QuickSearch(const DenseProblem& problem, const std::string& known);

  /// Compiles on all cores, beginning nothing after the deadline, and keeps the results for fastest() and for
  /// the engine. Returns whether there was time for everything. Blocks; does not use the GPU.
  bool compile(Deadline deadline) const;
  /// The fastest correct policy. Blocks, and allocates memory for the problem. Throws
  /// Error(backend_unavailable) if no policy was compiled in time or works.
  TransformPolicy fastest() const;

 private:
  struct Variant {
    TransformPolicy policy;
    std::size_t step;  ///< the step in which it differs from the rules' policy
  };
  static constexpr bool kSingle = sizeof(Real) == 4;

  /// Adds the policy's sources of one direction, unless there would be too many or it cannot be laid out.
  bool add(const TransformPolicy& policy, bool inverse, std::size_t max_sources);

  DenseProblem problem_;
  std::string architecture_;
  std::vector<TransformPolicy> wholes_;  ///< the rules' policy first
  std::vector<Variant> variants_;
  std::vector<std::string> sources_;  ///< distinct, the most promising first
};

extern template class QuickSearch<float>;
extern template class QuickSearch<double>;

}  // namespace sfft::detail::tuned
