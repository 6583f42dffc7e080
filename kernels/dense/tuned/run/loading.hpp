// SPDX-License-Identifier: Apache-2.0
// Turns programs into executables for a GPU.
#pragma once

#include <memory>
#include <vector>

#include "kernels/dense/tuned/run/executable.hpp"

namespace sfft::detail::tuned {

/// Compiles the kernels of all programs at the same time and loads them. Throws Error(backend_unavailable).
std::vector<std::unique_ptr<const Executable>> load(const std::vector<Program>& programs, bool single,
                                                    Tables& tables, const cuda::DeviceInfo& device);

}  // namespace sfft::detail::tuned
