// SPDX-License-Identifier: Apache-2.0
// A single step that transforms the lines of one dimension of an array, with any input and output strides.
// Transforms that are spread over several arrays consist of such steps.
#pragma once

#include "kernels/dense/tuned/plan/needs.hpp"
#include "kernels/dense/tuned/plan/program.hpp"
#include "kernels/dense/tuned/policy/transform_policy.hpp"

namespace sfft::detail::tuned {

/// Complex lines; a group has `inner` of them. Strides are in complex values.
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

  /// Whether neighbouring lines, rather than the elements of a line, are neighbours in memory.
  bool interleaved() const noexcept { return in.element != 1; }
};

LineNeed need_of(const Lines& lines);
/// Returns a program of one step, for any number of groups. Throws Error(backend_unavailable) for a policy of
/// other lines.
Program program_of(const Lines& lines, const TransformPolicy& policy);

}  // namespace sfft::detail::tuned
