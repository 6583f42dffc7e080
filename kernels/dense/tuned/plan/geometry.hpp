// SPDX-License-Identifier: Apache-2.0
// Lays transforms out as steps through memory: where every line of every step begins, in both directions.
#pragma once

#include "kernels/dense/problem/gpu_engine.hpp"
#include "kernels/dense/tuned/plan/program.hpp"
#include "kernels/dense/tuned/policy/transform_policy.hpp"

namespace sfft::detail::tuned {

/// How the parts of values lie in memory. f32: as the request's precision and element type say.
struct Formats {
  dense::Storage source = dense::Storage::f32, target = dense::Storage::f32;
  dense::Storage between = dense::Storage::f32;  ///< what steps leave for each other
  double peak = 0;  ///< with 16 bits between steps: the largest part of the source
  friend bool operator==(const Formats&, const Formats&) = default;
};

/// One kind of execution of a problem.
struct Request {
  DenseProblem problem;
  bool single = true;
  bool inverse = false;
  ElementType element = ElementType::f32;  ///< of real samples that a forward transform reads
  device::Keep keep = device::Keep::all;   ///< of a forward transform; if not all, no output is written
  Formats formats{};                       ///< of a single-precision transform that keeps all
};

/// The kernels of a request. Throws Error(invalid_argument) for a policy that does not fit the problem.
Program lay_out(const Request& request, const TransformPolicy& policy);

}  // namespace sfft::detail::tuned
