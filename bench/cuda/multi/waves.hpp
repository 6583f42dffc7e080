// SPDX-License-Identifier: Apache-2.0
// Sums of plane waves in parts of arrays on GPUs. Signals may have any size, and every coefficient is known.
#pragma once

#include <cuda_runtime.h>

#include <complex>
#include <cstdint>

namespace sfft::bench {

struct Waves {
  static constexpr int kCount = 3;
  std::int64_t extents[3] = {1, 1, 1};  ///< extents of the whole signal
  bool real = false;
  /// The frequencies and factors of the waves. For real signals, frequencies avoid 0 and the middle of the
  /// last dimension.
  std::int64_t frequency[kCount][3] = {};
  float amplitude[kCount] = {1.0F, 0.5F, 2.0F};
};

/// A part of an array.
struct WavePart {
  std::int64_t begin[3], extent[3];
  std::int64_t points;
};

/// Fills a part of the signal with complex values, or with samples of a real signal.
void fill_part(const Waves& waves, const WavePart& part, void* values, cudaStream_t stream);

/// Returns the largest |X − truth| in a part of the unscaled spectrum, divided by the largest coefficient.
/// Blocks.
double worst_of_part(const Waves& waves, const WavePart& part, const std::complex<float>* values);

}  // namespace sfft::bench
