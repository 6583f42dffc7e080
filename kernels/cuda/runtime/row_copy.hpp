// SPDX-License-Identifier: Apache-2.0
// Copies rows between page-locked host memory and GPU memory with a kernel. For short rows, copy engines lose
// a third of their rate while other kernels access the GPU's memory.
#pragma once

#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Addresses, widths and pitches are multiples of 16. Uses just enough blocks for the bus and leaves the rest
/// of the GPU to concurrent work.
void launch_row_copy(const Rows& to, const Rows& from, Stream stream);

}  // namespace sfft::detail::cuda
