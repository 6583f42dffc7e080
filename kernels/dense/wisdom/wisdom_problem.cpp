// SPDX-License-Identifier: Apache-2.0
// Joins precision, kind and shape, and adds strides only if signals are not contiguous.
#include "kernels/dense/wisdom/wisdom_problem.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace sfft::detail {

template <class Real>
WisdomProblem wisdom_problem(const DenseProblem& problem) {
  std::string text = fmt::format("{} {} {}", sizeof(Real) == 4 ? "f32" : "f64", problem.real ? "r2c" : "c2c",
                                 problem.shape.to_string());
  if (!problem.contiguous()) text += " strided " + to_string(problem);
  return {std::move(text), problem.batch};
}

template WisdomProblem wisdom_problem<float>(const DenseProblem&);
template WisdomProblem wisdom_problem<double>(const DenseProblem&);

}  // namespace sfft::detail
