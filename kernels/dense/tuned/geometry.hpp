// SPDX-License-Identifier: Apache-2.0
// Transforms as steps through memory: where every line of every step begins, in both directions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/dense/gpu_engine.hpp"
#include "kernels/dense/tuned/choice.hpp"

namespace sfft::detail::tuned {

/// One kind of execution of a problem.
struct Request {
  DenseProblem problem;
  bool single = true;
  bool inverse = false;
  ElementType element = ElementType::f32;  ///< of real samples that a forward transform reads
  device::Keep keep = device::Keep::all;   ///< of a forward transform: other than all, no output is written
};

/// The forward transform's steps, as what a choice has to be made for. `split`: of a long line. Empty where
/// the engine cannot do the problem; `why` says so.
std::vector<LineNeed> needs_of(const DenseProblem& problem, bool single, const std::vector<int>& split,
                               const Limits& limits, std::string& why);
/// Splits of a 1D signal that no block can hold, and of the columns of complex volumes, best first; one empty
/// split for what may do without.
std::vector<std::vector<int>> splits_of(const DenseProblem& problem, bool single, const Limits& limits);
/// Whether steps by turns may do without a ring: those of contiguous complex numbers, in rows of whole cache
/// lines, and the last two of three factors.
bool turns_in_place(const DenseProblem& problem, bool single, const std::vector<int>& split);
/// Complex values of one group of the steps that run by turns.
std::int64_t group_values(const DenseProblem& problem, const Choice& choice);

/// The kernels of a request. Throws Error(invalid_argument) for a choice that does not fit the problem.
Program lay_out(const Request& request, const Choice& choice);

}  // namespace sfft::detail::tuned
