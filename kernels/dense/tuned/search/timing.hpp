// SPDX-License-Identifier: Apache-2.0
// Times work on a stream, for planning.
#pragma once

#include <functional>

#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail {

/// Microseconds of one repetition of `work`, which only enqueues: the median of five replays of a graph long
/// enough for the clock of events. A minimum would favour candidates that are fast by luck.
double device_us(const std::function<void(cuda::Stream)>& work, cuda::Stream stream);

/// Fills a buffer with uniform numbers in (−1, 1), one block of them repeated; blocks. Zeros would be
/// processed faster.
template <class Real>
void fill_for_timing(const cuda::DeviceBuffer& buffer, cuda::Stream stream);

}  // namespace sfft::detail
