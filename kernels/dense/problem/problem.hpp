// SPDX-License-Identifier: Apache-2.0
// The checked problem of a dense plan: shape, batch and layout of the signals.
#pragma once

#include "kernels/dense/problem/gpu_engine.hpp"

namespace sfft::detail {

dense::Options::Strides contiguous_strides(const Shape& shape) noexcept;
/// The problem of a plan, with strides of 0 filled in. Throws Error(invalid_argument or size_overflow) for
/// invalid options: a batch below 1, strides that are not positive or let elements overlap.
DenseProblem make_problem(const Shape& shape, bool real, const dense::Options& options);
/// `batch` of the same transforms, contiguous.
DenseProblem contiguous_problem(const DenseProblem& problem, std::int64_t batch);

/// Whether the rows of real signals have the same distance as those of half spectra, so that a transform may
/// work in place. Always true for a single 1D real signal with stride 1.
bool padded_for_spectrum(const DenseProblem& problem) noexcept;
/// The number of elements from the start of the first signal to the end of the last one.
std::int64_t span_points(const DenseProblem& problem) noexcept;
inline std::int64_t total_points(const DenseProblem& problem) noexcept {
  return problem.batch * problem.shape.points();
}
inline std::int64_t total_spectrum_points(const DenseProblem& problem) noexcept {
  return problem.batch * problem.spectrum_points();
}

/// The problem's strides for messages and names, with the batch stride last: "64,1,1024".
std::string to_string(const DenseProblem& problem);

/// Factors that results are multiplied by.
struct DenseScales {
  double forward = 1, inverse = 1;
};
DenseScales scales_of(dense::Options::Normalization normalization, std::int64_t points) noexcept;

}  // namespace sfft::detail
