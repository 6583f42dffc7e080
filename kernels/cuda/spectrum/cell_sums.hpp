// SPDX-License-Identifier: Apache-2.0
// Sums of a stored spectrum over the logarithmic cells of its grid.
#pragma once

#include <vector>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/spectrum/spectrum_extents.hpp"

namespace sfft::detail::cuda {

/// Σ multiplicity × values over the elements of every cell whose `power` is not negative; cells are products
/// of those in kernels/base/log_cells.hpp, row-major. Both arrays are device memory in the layout of
/// `extents`. Blocks. The order of every sum is fixed: the same values give the same bits.
std::vector<double> cell_sums(const double* values, const double* power, const SpectrumExtents& extents,
                              Stream stream);

}  // namespace sfft::detail::cuda
