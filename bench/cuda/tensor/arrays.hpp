// SPDX-License-Identifier: Apache-2.0
// Signals and errors in device memory, for arrays too large to copy to the host every time.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace sfft::bench {

/// Fills arrays with complex numbers whose parts are uniform in [−1, 1), the same in every call. Writes float
/// and, for pointers that are not null, double and half precision.
void fill_uniform(std::int64_t count, void* floats, void* doubles, void* halves, cudaStream_t stream);

struct SpectrumError {
  double relative_l2 = 0;
  double absolute_sum = 0;  ///< sum of the differences' magnitudes
};
/// The error of complex floats, or of complex fp16 numbers with `half`, against complex doubles. Blocks.
SpectrumError spectrum_error(const void* spectra, bool half, const void* expected, std::int64_t count);

}  // namespace sfft::bench
