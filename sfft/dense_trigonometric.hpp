// SPDX-License-Identifier: Apache-2.0
// Discrete cosine, sine and Hartley transforms of 1D, 2D and 3D signals.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include "sfft/dense.hpp"

namespace sfft::dense {

/// Batches of real signals of one shape, each transformed along every dimension, into as many real values, on
/// the CPU. Arrays are contiguous and row-major, one signal after the other; input and output may be the
/// same memory, but must not overlap otherwise. Options::normalization has the product of the dimensions' M
/// (Options::Trigonometric) for N, so that by default inverse(forward(x)) = x. `unitary` makes each transform
/// orthogonal, as SciPy's norm="ortho" does: values that this weights by √2 are the first of dct2 and dct3,
/// the last of dst2 and dst3, and both ends of dct1. Within one 2D or 3D signal, a value that is not finite
/// may reach every result; other signals of a batch are not affected. Immutable; copies share their data, and
/// a move is a copy. Execution is thread-safe. The constructor throws invalid_argument for dct1 along a
/// single point and for strides, backend_unavailable for a GPU or an engine other than built_in,
/// size_overflow, out_of_memory.
template <class Real>
class TrigonometricPlan : public detail::FullPlan {
  static_assert(std::is_same_v<Real, float> || std::is_same_v<Real, double>, "Real is float or double");

 public:
  using Kind = Options::Trigonometric;  ///< DCT and DST I to IV, Hartley

  /// The same kind along every dimension.
  TrigonometricPlan(const Shape& shape, Kind kind, const Options& options = {})
      : TrigonometricPlan(shape, std::array{kind, kind, kind}, options) {}
  /// A kind for each dimension, slowest first. Those beyond the rank are ignored.
  TrigonometricPlan(const Shape& shape, const std::array<Kind, 3>& kinds, const Options& options = {})
      : FullPlan(shape, Domain::real, options, std::is_same_v<Real, float>,
                 Other{.kinds = std::span(kinds).first(static_cast<std::size_t>(shape.rank()))}) {}

  /// Transforms signal_points() values into as many. Blocks. Throws shape_mismatch, invalid_argument.
  void forward(std::span<const Real> signals, std::span<Real> results,
               std::span<std::byte> workspace = {}) const {
    run_forward(signals.data(), element_type_of<Real>::value, signals.size(), results.data(), results.size(),
                workspace);
  }
  /// Transforms by the inverse kinds.
  void inverse(std::span<const Real> results, std::span<Real> signals,
               std::span<std::byte> workspace = {}) const {
    run_inverse(results.data(), results.size(), signals.data(), element_type_of<Real>::value, signals.size(),
                workspace);
  }
};

}  // namespace sfft::dense
