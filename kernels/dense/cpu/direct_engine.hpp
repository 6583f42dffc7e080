// SPDX-License-Identifier: Apache-2.0
// Transforms of a few points by the definition.
#pragma once

#include <memory>

#include "kernels/dense/problem/engine.hpp"

namespace sfft::detail {

/// 2D and 3D grids of a matrix of 4 KB at most: 16 complex floats, 19 to 22 real ones. Null for others.
template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_direct_engine(const Shape& shape, bool real);

}  // namespace sfft::detail
