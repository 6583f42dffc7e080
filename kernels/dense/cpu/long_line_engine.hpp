// SPDX-License-Identifier: Apache-2.0
// The built-in engine for long 1D signals: two passes over memory, on any number of threads.
#pragma once

#include <memory>

#include "kernels/dense/problem/engine.hpp"

namespace sfft::detail {

/// Returns null unless the shape has one long dimension with good factors. Real signals must also have even
/// length. A single thread transforms shorter lines in one piece where that is faster.
template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_long_line_engine(const Shape& shape, bool real, int threads);

}  // namespace sfft::detail
