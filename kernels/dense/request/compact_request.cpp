// SPDX-License-Identifier: Apache-2.0
// Checks compact plans and predicts the error of their transforms.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/base/radix/radices.hpp"
#include "kernels/dense/request/request.hpp"

namespace sfft::detail {

using dense::Storage;

constexpr double kLargestF16 = 65504;

void check_storage(Storage storage) {
  if (storage > Storage::block16)
    throw Error(ErrorCode::invalid_argument, "unknown format of stored values: give a dense::Storage");
}

namespace {

/// Bound after exponents have been found: parts are below 2^15.
constexpr double kFoundPeak = 0x1p15;

double peak_of(const std::optional<double>& peak, Storage storage) {
  if (!peak) return storage == Storage::f16 ? kLargestF16 : kFoundPeak;
  const double given = *peak;
  if (!(given > 0) || given > static_cast<double>(std::numeric_limits<float>::max())) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a peak is {}: give the largest part that is stored, or leave it out", given));
  }
  return storage == Storage::f16 ? std::min(given, kLargestF16) : given;
}

/// Bound on the parts of unnormalised sums of N values with |re|, |im| <= peak.
double largest_part(const CompactRequest& request, Direction direction) noexcept {
  return std::numbers::sqrt2 * static_cast<double>(request.dense.problem.shape.points()) *
         request.formats.source_peak(direction);
}

double factor_of(const DenseRequest& request, Direction direction) noexcept {
  return direction == Direction::forward ? request.scales.forward : request.scales.inverse;
}

/// The largest float, reduced by the factor of fused twiddles (tuned::pass_roots_of()).
constexpr double kLargestSum = 0x1p102;

/// Rejects sums beyond the range of float.
void check_peak(const CompactRequest& request, Direction direction) {
  const char* const peak = direction == Direction::forward ? "signal_peak" : "spectrum_peak";
  const CompactFormats& formats = request.formats;
  if (largest_part(request, direction) > kLargestSum) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} points of up to {} have sums beyond the range of float: make {} smaller",
                            request.dense.problem.shape.to_string(), formats.source_peak(direction), peak));
  }
}

}  // namespace

CompactRequest make_compact_request(const Shape& shape, bool real, const dense::Options& options) {
  const dense::Options::Formats& formats = options.formats;
  for (const Storage storage : {formats.signal, formats.spectrum, formats.between}) check_storage(storage);
  const dense::Options::Strides& strides = options.signal_strides;
  if (strides.batch != 0 || std::any_of(strides.dims.begin(), strides.dims.end(),
                                        [](std::int64_t stride) { return stride != 0; })) {
    throw Error(ErrorCode::invalid_argument,
                "compact signals are contiguous: leave the strides at 0, or use dense::Plan");
  }
  CompactRequest request{
      make_request_with_formats(shape, real, options),
      {formats.signal, formats.spectrum, formats.between, peak_of(formats.signal_peak, formats.signal),
       peak_of(formats.spectrum_peak, formats.spectrum),
       formats.signal != Storage::f16 && !formats.signal_peak,
       formats.spectrum != Storage::f16 && !formats.spectrum_peak}};
  refuse_several(request.dense, "CompactPlan");
  if (for_gpu(options)) {
    if (formats.between == Storage::block16)
      throw Error(ErrorCode::backend_unavailable,
                  "kernels hand over no block16: set `between` to f16 or f32");
    check_peak(request, Direction::forward);
    check_peak(request, Direction::inverse);
  }
  return request;
}

int exponent_of(const CompactRequest& request, Direction direction) noexcept {
  if (request.formats.target(direction) != Storage::f16) return 0;
  constexpr double kRoundingErrors = 1.001;
  const double max = largest_part(request, direction) * factor_of(request.dense, direction);
  return static_cast<int>(std::ceil(std::log2(kRoundingErrors * max / kLargestF16)));
}

std::int64_t source_parts(const DenseProblem& problem, Direction direction) noexcept {
  const bool samples = direction == Direction::forward && problem.real;
  return samples ? problem.shape.points()
                 : 2 * (direction == Direction::forward ? problem.shape.points() : problem.spectrum_points());
}

std::int64_t target_parts(const DenseProblem& problem, Direction direction) noexcept {
  return source_parts(problem, direction == Direction::forward ? Direction::inverse : Direction::forward);
}

double arithmetic_error(const DenseProblem& problem) noexcept {
  // The error grows with the square root of the depth (Gentleman and Sande 1966). The factors were measured
  // from 64 to 2^22 points: true errors were 0.7 to 1.0 times the result.
  constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
  const auto extents = problem.shape.extents();
  const bool convolves = std::any_of(extents.begin(), extents.end(), [](std::int64_t n) {
    return n > std::numeric_limits<int>::max() || !has_radices(static_cast<int>(n));
  });
  return (convolves ? 0.48 : 0.3) * kEpsilon *
         std::sqrt(1 + std::log2(static_cast<double>(problem.shape.points())));
}

}  // namespace sfft::detail
