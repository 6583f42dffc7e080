// SPDX-License-Identifier: Apache-2.0
// Sources into machine code.
#pragma once

#include <string>
#include <vector>

namespace sfft::detail::tuned {

struct Compiled {
  std::vector<char> image;  ///< empty where NVRTC refuses
  std::string failure;      ///< why
};

/// One for each source (source_of()), in their order, for "sm_90" or the like. Uses all cores, and remembers
/// what the process compiled last. Safe from several threads; needs no GPU. Throws Error(backend_unavailable)
/// where NVRTC is missing.
std::vector<Compiled> compile(const std::vector<std::string>& sources, const std::string& architecture);

}  // namespace sfft::detail::tuned
