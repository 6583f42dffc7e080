// SPDX-License-Identifier: Apache-2.0
// Lines of one dimension of an array as a step of their own, from and to wherever strides say: what
// transforms that are spread over several arrays consist of.
#pragma once

#include "kernels/dense/tuned/plan/needs.hpp"
#include "kernels/dense/tuned/plan/program.hpp"
#include "kernels/dense/tuned/policy/transform_policy.hpp"

namespace sfft::detail::tuned {

/// Complex lines, `inner` of them in a group. Strides are in complex values.
struct Lines {
  struct Strides {
    std::int64_t group = 0, inner = 1, element = 1;
    friend bool operator==(const Strides&, const Strides&) = default;
  };
  std::int64_t points = 1;
  std::int64_t inner = 1;
  Strides in, out;
  bool inverse = false;
  bool scaled = false;  ///< results are multiplied by the call's scale
  friend bool operator==(const Lines&, const Lines&) = default;

  /// Neighbouring lines, not the elements of one, are neighbours in memory.
  bool interleaved() const noexcept { return in.element != 1; }
};

LineNeed need_of(const Lines& lines);
/// A program of one step, of any number of groups. Throws Error(backend_unavailable) for a policy of other
/// lines.
Program program_of(const Lines& lines, const TransformPolicy& policy);

}  // namespace sfft::detail::tuned
