// SPDX-License-Identifier: Apache-2.0
// Fills in strides of 0. Then sorts the axes by stride to check that no elements overlap and that the span is
// addressable.
#include "kernels/dense/problem/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

constexpr std::int64_t kMaxPoints = std::int64_t{1} << 62;

/// Strides and extents of all axes of an array.
using Axes = std::vector<std::pair<std::int64_t, std::int64_t>>;

Axes axes_of(const DenseProblem& problem) {
  Axes axes{{problem.strides.batch, problem.batch}};
  for (int d = 0; d < problem.shape.rank(); ++d)
    axes.emplace_back(problem.strides.dims[static_cast<std::size_t>(d)], problem.shape[d]);
  return axes;
}

Axes signal_axes(const dense::Layout& layout) {
  Axes axes;
  for (const auto* dimensions : {&layout.transformed, &layout.batch})
    for (const auto& dimension : *dimensions) axes.emplace_back(dimension.signal_stride, dimension.extent);
  return axes;
}

Axes spectrum_axes(const dense::Layout& layout, bool real) {
  Axes axes;
  for (const auto* dimensions : {&layout.batch, &layout.transformed})
    for (const auto& dimension : *dimensions) axes.emplace_back(dimension.spectrum_stride, dimension.extent);
  if (real) axes.back().second = axes.back().second / 2 + 1;
  return axes;
}

std::int64_t span_of(const Axes& axes) noexcept {
  std::int64_t span = 1;
  for (const auto& [stride, extent] : axes) span += (extent - 1) * stride;
  return span;
}

/// Each axis must step over everything that the finer ones span, so that no two elements overlap. `array`:
/// "signals" or "spectra"; `strides` names them all.
void check_strides(Axes axes, const char* array, const std::string& strides) {
  std::sort(axes.begin(), axes.end());
  std::int64_t span = 1;
  for (const auto& [stride, extent] : axes) {
    if (extent == 1) continue;
    if (stride < 1)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("the strides {} are not all positive: give all of them, or none for contiguous "
                              "signals",
                              strides));
    if (stride < span)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("elements of the {} would overlap: a stride of {} is less than the {} elements "
                              "that the finer dimensions span",
                              array, stride, span));
    if (extent - 1 > (kMaxPoints - span) / stride)
      throw Error(ErrorCode::size_overflow,
                  fmt::format("the strides {} span more than 2^62 elements", strides));
    span += (extent - 1) * stride;
  }
}

/// "64,1,1024"
std::string strides_text(const Axes& axes) {
  std::string text;
  for (const auto& [stride, extent] : axes) text += fmt::format("{}{}", text.empty() ? "" : ",", stride);
  return text;
}

/// The product of the extents. Throws Error(invalid_argument, size_overflow).
std::int64_t points_of(const std::vector<dense::Layout::Dimension>& dimensions) {
  std::int64_t points = 1;
  for (const auto& dimension : dimensions) {
    if (dimension.extent < 1)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("an extent of the layout is {}: extents are 1 or more", dimension.extent));
    if (dimension.extent > kMaxPoints / points)
      throw Error(ErrorCode::size_overflow, "the extents of the layout have a product above 2^62");
    points *= dimension.extent;
  }
  return points;
}

/// The batch as one dimension, if it is one in both arrays.
std::optional<dense::Layout::Dimension> one_batch(std::vector<dense::Layout::Dimension> batch) {
  std::erase_if(batch, [](const auto& dimension) { return dimension.extent == 1; });
  std::sort(batch.begin(), batch.end(),
            [](const auto& a, const auto& b) { return a.signal_stride > b.signal_stride; });
  dense::Layout::Dimension one = batch.empty() ? dense::Layout::Dimension{} : batch.back();
  for (auto slower = batch.rbegin(); slower != batch.rend(); ++slower) {
    if (slower == batch.rbegin()) continue;
    if (slower->signal_stride != one.extent * one.signal_stride ||
        slower->spectrum_stride != one.extent * one.spectrum_stride)
      return std::nullopt;
    one.extent *= slower->extent;
  }
  return one;
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
  check_strides(axes_of(problem), "signals", to_string(problem) + " (the batch's last)");
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
  std::int64_t span = 1 + (problem.batch - 1) * problem.strides.batch;
  for (int d = 0; d < problem.shape.rank(); ++d)
    span += (problem.shape[d] - 1) * problem.strides.dims[static_cast<std::size_t>(d)];
  return span;
}

dense::Layout layout_of(const DenseProblem& problem) {
  dense::Layout layout;
  layout.batch.push_back({problem.batch, problem.strides.batch, problem.spectrum_points()});
  std::int64_t spectrum_stride = 1;
  for (int d = problem.shape.rank() - 1; d >= 0; --d) {
    layout.transformed.push_back(
        {problem.shape[d], problem.strides.dims[static_cast<std::size_t>(d)], spectrum_stride});
    const bool half = problem.real && spectrum_stride == 1 && d + 1 == problem.shape.rank();
    spectrum_stride *= half ? problem.shape[d] / 2 + 1 : problem.shape[d];
  }
  std::reverse(layout.transformed.begin(), layout.transformed.end());
  return layout;
}

LayoutProblem make_problem(const dense::Layout& layout, bool real, const dense::Options& options) {
  constexpr std::size_t kMaxTransformed = 8;
  const std::size_t rank = layout.transformed.size();
  if (rank < 1 || rank > kMaxTransformed)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the layout transforms {} dimensions: give 1 to 8 of them", rank));
  const dense::Options::Strides none;
  if (options.batch != 1 || options.signal_strides.dims != none.dims || options.signal_strides.batch != 0)
    throw Error(ErrorCode::invalid_argument,
                "a layout contains the batch and all strides: leave Options::batch and "
                "Options::signal_strides out");
  const std::int64_t points = points_of(layout.transformed), batch = points_of(layout.batch);
  if (batch > kMaxPoints / points)
    throw Error(ErrorCode::size_overflow,
                fmt::format("{} transforms of {} points have more than 2^62 points", batch, points));
  for (const bool signals : {true, false}) {
    const Axes axes = signals ? signal_axes(layout) : spectrum_axes(layout, real);
    check_strides(axes, signals ? "signals" : "spectra", strides_text(axes));
  }

  std::vector<std::int64_t> extents{1};
  for (std::size_t d = 0; d < rank; ++d) {
    if (d > 0 && d + 2 >= rank) extents.push_back(1);
    extents.back() *= layout.transformed[d].extent;
  }
  const Shape shape{std::span<const std::int64_t>(extents)};
  const DenseProblem problem{shape, real, batch, contiguous_strides(shape), options.device.gpu_number()};
  const auto one = one_batch(layout.batch);
  if (rank > 3 || !one) return {problem, false};
  DenseProblem exact = problem;
  for (std::size_t d = 0; d < rank; ++d) exact.strides.dims[d] = layout.transformed[d].signal_stride;
  exact.strides.batch = one->signal_stride;
  const dense::Layout same = layout_of(exact);
  const auto equal = [](const auto& a, const auto& b) {
    return a.extent == 1 || a.spectrum_stride == b.spectrum_stride;
  };
  if (!equal(*one, same.batch[0]) ||
      !std::equal(layout.transformed.begin(), layout.transformed.end(), same.transformed.begin(), equal))
    return {problem, false};
  return {exact, true};
}

std::int64_t signal_span(const dense::Layout& layout) noexcept {
  return span_of(signal_axes(layout));
}

std::int64_t spectrum_span(const dense::Layout& layout, bool real) noexcept {
  return span_of(spectrum_axes(layout, real));
}

bool layouts_agree(const dense::Layout& layout, bool real) noexcept {
  const std::int64_t reals = real ? 2 : 1;
  const auto agrees = [reals](const dense::Layout::Dimension& dimension) {
    return dimension.extent == 1 || dimension.signal_stride == reals * dimension.spectrum_stride;
  };
  const dense::Layout::Dimension& last = layout.transformed.back();
  const bool of_last =
      real ? last.extent == 1 || (last.signal_stride == 1 && last.spectrum_stride == 1) : agrees(last);
  return of_last && std::all_of(layout.transformed.begin(), layout.transformed.end() - 1, agrees) &&
         std::ranges::all_of(layout.batch, agrees);
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
