// SPDX-License-Identifier: Apache-2.0
// Rows between page-locked memory of the host and the GPU's own, copied by a kernel: where rows are short,
// copy engines lose a third of their rate as soon as other kernels read and write the GPU's memory.
#pragma once

#include <cstddef>

#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Copies rows of `width` bytes that begin `to_pitch` and `from_pitch` bytes apart. Addresses, widths and
/// pitches are multiples of 16. Takes few blocks, enough for the bus, and leaves the GPU to what runs beside
/// it.
void launch_row_copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                     std::size_t width, std::size_t rows, Stream stream);

}  // namespace sfft::detail::cuda
