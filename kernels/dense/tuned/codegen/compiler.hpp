// SPDX-License-Identifier: Apache-2.0
// Compiles the CUDA sources of tuned kernels into machine code.
#pragma once

#include <string>
#include <vector>

namespace sfft::detail::tuned {

struct Compiled {
  std::vector<char> image;  ///< empty if NVRTC rejects the source
  std::string failure;      ///< the reason
};

/// Compiles each source (source_of()) for an architecture like "sm_90" and returns the results in the same
/// order. Uses all cores, and caches what the process compiled last. Thread-safe; needs no GPU. Throws
/// Error(backend_unavailable) if NVRTC is missing.
std::vector<Compiled> compile(const std::vector<std::string>& sources, const std::string& architecture);

}  // namespace sfft::detail::tuned
