// SPDX-License-Identifier: Apache-2.0
// The checks of compact plans, and what their transforms cost in accuracy.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/radices.hpp"
#include "kernels/dense/request/compact_runner.hpp"

namespace sfft::detail {

void check_storage(dense::Storage storage) {
  if (storage > dense::Storage::bf16)
    throw Error(ErrorCode::invalid_argument, "unknown format of stored values: give a dense::Storage");
}

CompactRequest make_compact_request(const Shape& shape, bool real, const dense::CompactOptions& options) {
  check_storage(options.signal);
  check_storage(options.spectrum);
  const dense::Strides& strides = options.dense.signal;
  if (strides.batch != 0 || std::any_of(strides.dims.begin(), strides.dims.end(),
                                        [](std::int64_t stride) { return stride != 0; })) {
    throw Error(ErrorCode::invalid_argument,
                "compact signals are contiguous: leave the strides at 0, or use dense::Plan");
  }
  return {make_request(shape, real, options.dense), options.signal, options.spectrum};
}

std::int64_t source_parts(const DenseProblem& problem, dense::Direction direction) noexcept {
  const bool samples = direction == dense::Direction::forward && problem.real;
  return samples ? problem.shape.points()
                 : 2 * (direction == dense::Direction::forward ? problem.shape.points()
                                                               : problem.spectrum_points());
}

std::int64_t target_parts(const DenseProblem& problem, dense::Direction direction) noexcept {
  return source_parts(problem, direction == dense::Direction::forward ? dense::Direction::inverse
                                                                      : dense::Direction::forward);
}

double arithmetic_error(const DenseProblem& problem) noexcept {
  // Grows with the root of the depth (Gentleman and Sande 1966). The factors were measured from 64 to 2^22
  // points: true errors were 0.7 to 1.0 times the result.
  constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
  const auto extents = problem.shape.extents();
  const bool convolves = std::any_of(extents.begin(), extents.end(), [](std::int64_t n) {
    return n > std::numeric_limits<int>::max() || !has_radices(static_cast<int>(n));
  });
  return (convolves ? 0.48 : 0.3) * kEpsilon *
         std::sqrt(1 + std::log2(static_cast<double>(problem.shape.points())));
}

}  // namespace sfft::detail
