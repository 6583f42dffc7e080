// SPDX-License-Identifier: Apache-2.0
// Converts a problem to this library's shape.
#pragma once

#include "bench/technologies/problem.hpp"
#include "sfft/types.hpp"

namespace sfft::technologies {

inline Shape shape_of(const Problem& problem) {
  return problem.rank == 2 ? Shape{problem.length(), problem.length()} : Shape{problem.length()};
}

}  // namespace sfft::technologies
