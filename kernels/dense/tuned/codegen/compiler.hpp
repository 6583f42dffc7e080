// SPDX-License-Identifier: Apache-2.0
// Compiles the CUDA sources of tuned kernels into machine code.
#pragma once

#include <string>
#include <vector>

namespace sfft::detail::tuned {

struct Compiled {
  std::vector<char> image;  ///< empty if NVRTC refuses
  std::string failure;      ///< why
};

/// Compiles each source (source_of()) for an architecture like "sm_90" and returns the results in their
/// order. Uses all cores, and remembers what the process compiled last. Safe from several threads; needs no
/// GPU. Throws Error(backend_unavailable) if NVRTC is missing.
std::vector<Compiled> compile(const std::vector<std::string>& sources, const std::string& architecture);

}  // namespace sfft::detail::tuned
