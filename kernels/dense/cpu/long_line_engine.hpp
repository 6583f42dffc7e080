// SPDX-License-Identifier: Apache-2.0
// The built-in engine for long signals of one dimension: two passes over memory, on any number of threads.
#pragma once

#include <memory>

#include "kernels/dense/problem/engine.hpp"

namespace sfft::detail {

/// Null unless the shape has one dimension whose length is long and factors well. Real signals are also of
/// even length. One thread takes shorter lines in one piece where that is faster.
template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_long_line_engine(const Shape& shape, bool real, int threads);

}  // namespace sfft::detail
