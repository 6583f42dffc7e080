// SPDX-License-Identifier: Apache-2.0
// The matrices of products on tensor cores (device/product_lines.cuh).
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/dense/tuned/plan/product_layout.hpp"

namespace sfft::detail::tuned {

/// A factor from 1 to 2 for the cosines and sines of a DFT that makes their rounding errors in f16 small.
/// `error` is their relative error, which is also the error that they add to results.
struct ProductScale {
  double value = 1, error = 0;
};
ProductScale product_scale(int points);

/// Returns four words per lane for a matrix of cosines, then for one of sines, tile by tile of the outputs
/// and of the points. The entries are multiplied by the product scale. Its reciprocal follows, as a float.
/// `inverse` conjugates the roots.
std::vector<std::uint32_t> product_tables(const ProductLayout& layout, bool inverse);

}  // namespace sfft::detail::tuned
