// SPDX-License-Identifier: Apache-2.0
// Lays out transforms as steps through memory: where every line of every step begins, in both directions.
#pragma once

#include "kernels/dense/problem/gpu_engine.hpp"
#include "kernels/dense/tuned/plan/program.hpp"
#include "kernels/dense/tuned/policy/transform_policy.hpp"

namespace sfft::detail::tuned {

/// How real and imaginary parts are stored. f32 stands for what the request's precision and element type say.
struct Formats {
  dense::Storage source = dense::Storage::f32, target = dense::Storage::f32;
  dense::Storage between = dense::Storage::f32;  ///< format of the data between steps
  double peak = 0;  ///< largest part of the source; needed for 16-bit data between steps
  friend bool operator==(const Formats&, const Formats&) = default;
};

/// One kind of execution of a problem: precision, direction, and formats.
struct Request {
  DenseProblem problem;
  bool single = true;
  bool inverse = false;
  ElementType element = ElementType::f32;  ///< type of the real samples that a forward transform reads
  device::Keep keep = device::Keep::all;   ///< of a forward transform; unless `all`, no output is written
  Formats formats{};                       ///< of a single-precision transform that keeps all results
};

/// Returns the kernels of a request. Throws Error(invalid_argument) for a policy that does not fit the
/// problem.
Program lay_out(const Request& request, const TransformPolicy& policy);

}  // namespace sfft::detail::tuned
