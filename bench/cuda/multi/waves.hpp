// SPDX-License-Identifier: Apache-2.0
// Sums of plane waves in parts of arrays on GPUs: signals of any size whose every coefficient is known.
#pragma once

#include <cuda_runtime.h>

#include <complex>
#include <cstdint>

namespace sfft::bench {

struct Waves {
  static constexpr int kCount = 3;
  std::int64_t extents[3] = {1, 1, 1};  ///< of the whole signal
  bool real = false;
  /// Frequencies, and the waves' factors. Those of real signals are away from 0 and from the middle of the
  /// last dimension.
  std::int64_t frequency[kCount][3] = {};
  float amplitude[kCount] = {1.0F, 0.5F, 2.0F};
};

/// Part of an array.
struct WavePart {
  std::int64_t begin[3], extent[3];
  std::int64_t points;
};

/// Fills a part of the signal: complex values, or samples of a real signal.
void fill_part(const Waves& waves, const WavePart& part, void* values, cudaStream_t stream);

/// Largest |X − truth| in a part of the unscaled spectrum, over the largest coefficient. Blocks.
double worst_of_part(const Waves& waves, const WavePart& part, const std::complex<float>* values);

}  // namespace sfft::bench
