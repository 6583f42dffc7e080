// SPDX-License-Identifier: Apache-2.0
// Times work on a stream, for planning.
#pragma once

#include <functional>

#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail {

/// Microseconds of one repetition of `work`, which must only enqueue. The result is the median of five
/// replays of a graph that is long enough for event timing. A minimum would favour candidates that are fast
/// by luck. Work of more than 20 ms is timed once, after a first run. Blocks.
double device_us(const std::function<void(cuda::Stream)>& work, cuda::Stream stream);

/// Fills a buffer with uniform numbers in (−1, 1), by repeating one block of them. Zeros would be processed
/// faster. Blocks.
template <class Real>
void fill_for_timing(const cuda::DeviceBuffer& buffer, cuda::Stream stream);

}  // namespace sfft::detail
