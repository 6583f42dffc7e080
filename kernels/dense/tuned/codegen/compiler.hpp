// SPDX-License-Identifier: Apache-2.0
// Compiles the CUDA sources of tuned kernels into machine code.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace sfft::detail::tuned {

struct Compiled {
  std::vector<char> image;  ///< empty if NVRTC rejects the source
  std::string failure;      ///< the reason
  bool late = false;        ///< the reason is the deadline
};

/// When no further compilation may begin; not set: never.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// Compiles each source (source_of()) for an architecture like "sm_90" and returns the results in the same
/// order. Uses all cores, and takes what this process compiled last, or what UserCache has, from there.
/// Sources whose turn comes after the deadline fail. Thread-safe; needs no GPU. Throws
/// Error(backend_unavailable) if NVRTC is missing.
std::vector<Compiled> compile(const std::vector<std::string>& sources, const std::string& architecture,
                              Deadline deadline = std::nullopt);

/// What machine code depends on in addition to a generated source: NVRTC's version, and a hash of the device
/// headers.
std::string compiler_version();

}  // namespace sfft::detail::tuned
