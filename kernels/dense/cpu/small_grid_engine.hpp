// SPDX-License-Identifier: Apache-2.0
// 2D and 3D transforms that fit in a core's L2 cache.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/dense/cpu/shared_parts.hpp"
#include "kernels/dense/problem/engine.hpp"

namespace sfft::detail {

/// Grids with fewer points gain nothing from a second thread.
constexpr std::int64_t kMaxSmallPoints = 2 * kPointsPerThread - 1;

/// Makes an engine that transforms a grid of up to kMaxSmallPoints as a whole, on one thread. Returns null
/// for larger grids, for lengths that need Bluestein's method, and for real rows that are faster one by one.
template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_small_grid_engine(const Shape& shape, bool real);

}  // namespace sfft::detail
