// SPDX-License-Identifier: Apache-2.0
// Transforms a few points directly from the definition.
#pragma once

#include <memory>

#include "kernels/dense/problem/engine.hpp"

namespace sfft::detail {

/// Makes an engine for 2D and 3D grids whose matrix has at most 4 KB, which is 16 complex floats or 19 to 22
/// real ones. Returns null for other shapes.
template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_direct_engine(const Shape& shape, bool real);

}  // namespace sfft::detail
