// SPDX-License-Identifier: Apache-2.0
// Long 1D transforms of lengths with large prime factors, on any number of threads.
#pragma once

#include <memory>

#include "kernels/dense/problem/engine.hpp"

namespace sfft::detail {

/// Returns null for other problems: short lines, lengths without large prime factors, and real lines of even
/// length, which become complex lines of half the length.
template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_long_chirp_engine(const Shape& shape, bool real);

}  // namespace sfft::detail
