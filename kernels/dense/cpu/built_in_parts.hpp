// SPDX-License-Identifier: Apache-2.0
// The engines for special shapes that the built-in engine consists of. Each returns null for other shapes.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/dense/cpu/shared_parts.hpp"
#include "kernels/dense/problem/engine.hpp"

namespace sfft::detail {

/// Returns null unless the shape has one long dimension with good factors. Real signals must also have even
/// length. A single thread transforms shorter lines in one piece where that is faster.
template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_long_line_engine(const Shape& shape, bool real, int threads);

/// Returns null for other problems: short lines, lengths without large prime factors, and real lines of even
/// length, which become complex lines of half the length.
template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_long_chirp_engine(const Shape& shape, bool real);

/// Makes an engine for 2D and 3D grids whose matrix has at most 4 KB, which is 16 complex floats or 19 to 22
/// real ones. Returns null for other shapes.
template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_direct_engine(const Shape& shape, bool real);

/// Grids with fewer points gain nothing from a second thread.
constexpr std::int64_t kMaxSmallPoints = 2 * kPointsPerThread - 1;

/// Makes an engine that transforms a grid of up to kMaxSmallPoints as a whole, on one thread. Returns null
/// for larger grids, for lengths that need Bluestein's method, and for real rows that are faster one by one.
template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_small_grid_engine(const Shape& shape, bool real);

}  // namespace sfft::detail
