// SPDX-License-Identifier: Apache-2.0
// Lays transforms out as steps through memory: where every line of every step begins, in both directions.
#pragma once

#include "kernels/dense/problem/gpu_engine.hpp"
#include "kernels/dense/tuned/plan/program.hpp"
#include "kernels/dense/tuned/policy/transform_policy.hpp"

namespace sfft::detail::tuned {

/// One kind of execution of a problem.
struct Request {
  DenseProblem problem;
  bool single = true;
  bool inverse = false;
  ElementType element = ElementType::f32;  ///< of real samples that a forward transform reads
  device::Keep keep = device::Keep::all;   ///< of a forward transform; if not all, no output is written
};

/// The kernels of a request. Throws Error(invalid_argument) for a policy that does not fit the problem.
Program lay_out(const Request& request, const TransformPolicy& policy);

}  // namespace sfft::detail::tuned
