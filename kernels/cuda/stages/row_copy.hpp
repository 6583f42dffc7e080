// SPDX-License-Identifier: Apache-2.0
// Copies rows that lie apart by a kernel, which hides the latency of far memory behind many requests at once.
#pragma once

#include <cstddef>

#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Like copy_rows(), between memory that kernels reach. Rows, pitches and widths are multiples of 4 bytes;
/// multiples of 16 are faster.
void launch_copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t rows, Stream stream);

}  // namespace sfft::detail::cuda
