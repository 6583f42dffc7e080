// SPDX-License-Identifier: Apache-2.0
// The matrices of products on tensor cores (device/product_lines.cuh).
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/dense/tuned/plan/product_layout.hpp"

namespace sfft::detail::tuned {

/// From 1 to 2: what the cosines and sines of a DFT are multiplied by, so that their roundings to f16 are
/// small. Their relative error is that which they add to results.
struct ProductScale {
  double value = 1, error = 0;
};
ProductScale product_scale(int points);

/// Four words of each lane for a matrix of cosines, then for one of sines, tile by tile of the outputs and of
/// the points. They are multiplied by a scale for which their roundings to f16 are small. One over it
/// follows, as a float. `inverse`: of the conjugated roots.
std::vector<std::uint32_t> product_tables(const ProductLayout& layout, bool inverse);

}  // namespace sfft::detail::tuned
