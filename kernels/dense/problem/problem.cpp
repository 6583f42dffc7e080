// SPDX-License-Identifier: Apache-2.0
// Fills in strides of 0. Then sorts the axes by stride to check that no elements overlap and that the span is
// addressable.
#include "kernels/dense/problem/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

constexpr std::int64_t kMaxPoints = std::int64_t{1} << 62;

/// Strides and extents of all axes; the batch comes first.
struct Axes {
  std::array<std::pair<std::int64_t, std::int64_t>, 4> all;  ///< stride, extent
  int count = 1;
};

Axes axes_of(const DenseProblem& problem) noexcept {
  Axes axes;
  axes.all[0] = {problem.strides.batch, problem.batch};
  for (int d = 0; d < problem.shape.rank(); ++d)
    axes.all[static_cast<std::size_t>(axes.count++)] = {problem.strides.dims[static_cast<std::size_t>(d)],
                                                        problem.shape[d]};
  return axes;
}

/// Each axis must step over everything that the finer ones span, so that no two elements overlap.
void check_strides(const DenseProblem& problem) {
  Axes axes = axes_of(problem);
  const auto begin = axes.all.begin();
  for (auto at = begin; at != begin + axes.count; ++at)
    std::rotate(std::upper_bound(begin, at, *at), at, at + 1);
  std::int64_t span = 1;
  for (int a = 0; a < axes.count; ++a) {
    const auto [stride, extent] = axes.all[static_cast<std::size_t>(a)];
    if (extent == 1) continue;
    if (stride < 1)
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("the strides {} (the batch's last) are not all positive: give all of them, or none "
                      "for contiguous signals",
                      to_string(problem)));
    if (stride < span)
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("elements of the signals would overlap: a stride of {} is less than the {} elements "
                      "that the finer dimensions span",
                      stride, span));
    if (extent - 1 > (kMaxPoints - span) / stride)
      throw Error(ErrorCode::size_overflow,
                  fmt::format("the strides {} span more than 2^62 elements", to_string(problem)));
    span += (extent - 1) * stride;
  }
}

}  // namespace

std::string to_string(const DenseProblem& problem) {
  std::string text;
  for (int d = 0; d < problem.shape.rank(); ++d)
    text += fmt::format("{},", problem.strides.dims[static_cast<std::size_t>(d)]);
  return text + fmt::format("{}", problem.strides.batch);
}

dense::Options::Strides contiguous_strides(const Shape& shape) noexcept {
  dense::Options::Strides strides;
  std::int64_t stride = 1;
  for (int d = shape.rank() - 1; d >= 0; stride *= shape[d--])
    strides.dims[static_cast<std::size_t>(d)] = stride;
  strides.batch = stride;
  return strides;
}

bool DenseProblem::contiguous() const noexcept {
  const dense::Options::Strides expected = contiguous_strides(shape);
  for (int d = 0; d < shape.rank(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    if (shape[d] > 1 && strides.dims[at] != expected.dims[at]) return false;
  }
  return batch == 1 || strides.batch == expected.batch;
}

DenseProblem make_problem(const Shape& shape, bool real, const dense::Options& options) {
  DenseProblem problem{shape, real, options.batch, options.signal_strides, options.device.gpu_number()};
  if (options.batch < 1)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the batch is {}: give the number of signals, 1 or more", options.batch));
  if (options.batch > kMaxPoints / shape.points())
    throw Error(ErrorCode::size_overflow,
                fmt::format("{} signals of {} have more than 2^62 points", options.batch, shape.to_string()));
  const bool given = std::any_of(options.signal_strides.dims.begin(), options.signal_strides.dims.end(),
                                 [](std::int64_t stride) { return stride != 0; });
  for (std::size_t d = static_cast<std::size_t>(shape.rank()); d < options.signal_strides.dims.size(); ++d) {
    if (options.signal_strides.dims[d] != 0)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("there is a stride for dimension {}, the shape {} has {}", d + 1,
                              shape.to_string(), shape.rank()));
  }
  const dense::Options::Strides natural = contiguous_strides(shape);
  if (!given) problem.strides.dims = natural.dims;
  if (!given && options.signal_strides.batch == 0) problem.strides.batch = natural.batch;
  check_strides(problem);
  return problem;
}

DenseProblem contiguous_problem(const DenseProblem& problem, std::int64_t batch) {
  DenseProblem packed = problem;
  packed.batch = batch;
  packed.strides = contiguous_strides(problem.shape);
  return packed;
}

bool padded_for_spectrum(const DenseProblem& problem) noexcept {
  if (!problem.real) return false;
  std::int64_t stride = 2 * (problem.row_points() / 2 + 1);
  const int last = problem.shape.rank() - 1;
  if (problem.row_points() > 1 && problem.strides.dims[static_cast<std::size_t>(last)] != 1) return false;
  for (int d = last - 1; d >= 0; stride *= problem.shape[d--]) {
    if (problem.shape[d] > 1 && problem.strides.dims[static_cast<std::size_t>(d)] != stride) return false;
  }
  return problem.batch == 1 || problem.strides.batch == stride;
}

std::int64_t span_points(const DenseProblem& problem) noexcept {
  const Axes axes = axes_of(problem);
  std::int64_t span = 1;
  for (int a = 0; a < axes.count; ++a) {
    const auto [stride, extent] = axes.all[static_cast<std::size_t>(a)];
    span += (extent - 1) * stride;
  }
  return span;
}

DenseScales scales_of(dense::Options::Normalization normalization, double points) noexcept {
  const double by_n = 1 / points;
  switch (normalization) {
    case dense::Options::Normalization::none:
      break;
    case dense::Options::Normalization::inverse_by_n:
      return {1, by_n};
    case dense::Options::Normalization::forward_by_n:
      return {by_n, 1};
    case dense::Options::Normalization::unitary:
      return {std::sqrt(by_n), std::sqrt(by_n)};
  }
  return {};
}

}  // namespace sfft::detail
