// SPDX-License-Identifier: Apache-2.0
// Copies rows between page-locked host memory and GPU memory with a kernel. For short rows, copy engines lose
// a third of their rate while other kernels access the GPU's memory.
#pragma once

#include <cstddef>

#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Copies rows of `width` bytes that begin `to_pitch` and `from_pitch` bytes apart. Addresses, widths and
/// pitches are multiples of 16. Uses just enough blocks for the bus and leaves the rest of the GPU to
/// concurrent work.
void launch_row_copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                     std::size_t width, std::size_t rows, Stream stream);

}  // namespace sfft::detail::cuda
