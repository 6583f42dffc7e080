// SPDX-License-Identifier: Apache-2.0
// The checked problem of a dense plan: shape, batch and layout of the signals, and how values are stored.
#pragma once

#include <complex>
#include <cstdint>
#include <string>

#include "sfft/dense_options.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

/// A batch of transforms of one shape. Spectra are contiguous. Signals have the layout `strides`, which is
/// filled in even for contiguous signals and is never all zero.
struct DenseProblem {
  Shape shape{1};
  bool real = false;
  std::int64_t batch = 1;
  dense::Options::Strides strides;
  int device = 0;
  bool forward_only = false;   ///< inverse() is never called
  bool own_type_only = false;  ///< the engine need not read 8-bit and 16-bit samples: kernels for them take
                               ///< long to compile

  Domain domain() const noexcept { return real ? Domain::real : Domain::complex; }
  std::int64_t row_points() const noexcept { return shape[shape.rank() - 1]; }
  /// Points of one transform's spectrum.
  std::int64_t spectrum_points() const noexcept {
    return real ? shape.points() / row_points() * (row_points() / 2 + 1) : shape.points();
  }
  bool contiguous() const noexcept;
};

/// The element type in which a plan of this precision computes; such signals are not converted.
template <class Real>
constexpr ElementType own_type(const DenseProblem& problem) noexcept {
  return problem.real ? element_type_of<Real>::value : element_type_of<std::complex<Real>>::value;
}

dense::Options::Strides contiguous_strides(const Shape& shape) noexcept;
/// The problem of a plan, with strides of 0 filled in. Throws Error(invalid_argument or size_overflow) for
/// invalid options: a batch below 1, strides that are not positive or let elements overlap.
DenseProblem make_problem(const Shape& shape, bool real, const dense::Options& options);
/// The layout of a problem, whose spectra are contiguous.
dense::Layout layout_of(const DenseProblem& problem);
/// The problem with this layout or, if there is none, one with as many transforms and points and contiguous
/// arrays. Throws Error(invalid_argument or size_overflow) for invalid layouts, and for a batch or strides in
/// the options.
struct LayoutProblem {
  DenseProblem problem;
  bool exact;  ///< the layout is that of the problem
};
LayoutProblem make_problem(const dense::Layout& layout, bool real, const dense::Options& options);
/// The number of elements from the first to the last: of signals, and of spectra.
std::int64_t signal_span(const dense::Layout& layout) noexcept;
std::int64_t spectrum_span(const dense::Layout& layout, bool real) noexcept;
/// Whether signals and spectra have the same layout, so that a transform can work in place: values of the
/// same index are at the same address. Rows of reals then have room for half spectra.
bool layouts_agree(const dense::Layout& layout, bool real) noexcept;

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

/// The frequencies start + j·step for 0 <= j < count, in cycles per length of a 1D signal.
struct FrequencyRange {
  double start = 0, step = 1;
  std::int64_t count = 1;
  bool bins = false;  ///< neighbouring integers
};

/// Factors that results are multiplied by.
struct DenseScales {
  double forward = 1, inverse = 1;
};
DenseScales scales_of(dense::Options::Normalization normalization, double points) noexcept;

enum class Direction : std::uint8_t { forward, inverse };

/// How the values of a compact problem are stored, and how large they may be.
struct CompactFormats {
  dense::Storage signal = dense::Storage::f16, spectrum = dense::Storage::f16, between = dense::Storage::f32;
  double signal_peak = 65504, spectrum_peak = 65504;
  /// On a GPU the size of the values is unknown. If set, kernels find the peak and scale the values so that
  /// it is at most the peak above.
  bool signal_found = false, spectrum_found = false;

  dense::Storage source(Direction direction) const noexcept {
    return direction == Direction::forward ? signal : spectrum;
  }
  dense::Storage target(Direction direction) const noexcept {
    return direction == Direction::forward ? spectrum : signal;
  }
  double source_peak(Direction direction) const noexcept {
    return direction == Direction::forward ? signal_peak : spectrum_peak;
  }
  bool source_found(Direction direction) const noexcept {
    return direction == Direction::forward ? signal_found : spectrum_found;
  }
  /// Whether results, or values between steps, would overflow if the peak were not found.
  bool needs_exponents(Direction direction) const noexcept {
    return source_found(direction) &&
           (target(direction) == dense::Storage::f16 || between == dense::Storage::f16);
  }
};

}  // namespace sfft::detail
