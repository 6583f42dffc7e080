// SPDX-License-Identifier: Apache-2.0
// The matrices of products on tensor cores (device/matrix_lines.cuh), and the twiddle factors between them.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/dense/tuned/plan/matrix_layout.hpp"

namespace sfft::detail::tuned {

/// Four words of each lane for each matrix of 16×16 numbers of f16: those of the first DFT, of the second
/// one, and four floats of each lane for the twiddle factors of a tile of the first one's results. The
/// matrices are multiplied by scales for which their roundings are small, which the twiddle factors take
/// back. Half of a factor 2 in the second matrix is taken back there too, so that what lies between the
/// products is no larger than the parts of results may be. `inverse`: roots are conjugated.
std::vector<std::uint32_t> matrix_tables(const MatrixLayout& layout, bool inverse);

/// The scale from 1 to 2 with which the roots of unity of this order, as numbers of f16, are most accurate.
double matrix_scale(int radix);

}  // namespace sfft::detail::tuned
