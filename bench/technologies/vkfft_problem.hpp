// SPDX-License-Identifier: Apache-2.0
// Converts a problem to VkFFT's terms, for each of its backends. Include this after vkFFT.h, which defines
// its types for one backend per source.
#pragma once

#include "bench/technologies/technology.hpp"

namespace sfft::technologies {

/// Transforms out of place, from `input` to `output`. VkFFT keeps the addresses of its arguments.
template <class Buffer>
VkFFTConfiguration vkfft_configuration(const Problem& problem, Buffer* input, Buffer* output,
                                       std::uint64_t* bytes) {
  VkFFTConfiguration configuration = {};
  configuration.FFTdim = static_cast<std::uint64_t>(problem.rank);
  for (int d = 0; d < problem.rank; ++d) configuration.size[d] = static_cast<std::uint64_t>(problem.length());
  configuration.numberBatches = static_cast<std::uint64_t>(problem.batch);
  configuration.buffer = output;
  configuration.bufferSize = bytes;
  configuration.isInputFormatted = 1;
  configuration.inputBufferStride[0] = static_cast<std::uint64_t>(problem.length());
  configuration.inputBuffer = input;
  configuration.inputBufferSize = bytes;
  return configuration;
}

inline void initialize_vkfft(VkFFTApplication& application, const VkFFTConfiguration& configuration) {
  const VkFFTResult result = initializeVkFFT(&application, configuration);
  if (result != VKFFT_SUCCESS) throw Failure("initializeVkFFT: result " + std::to_string(result));
}

}  // namespace sfft::technologies
