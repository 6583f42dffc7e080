// SPDX-License-Identifier: Apache-2.0
// Writes kernels as CUDA source. The source is a constant that instantiates the templates in device/.
#pragma once

#include <string>

#include "kernels/dense/tuned/plan/program.hpp"

namespace sfft::detail::tuned {

/// Returns the CUDA source of one kernel, a function `sfft_kernel`.
std::string source_of(const Kernel& kernel, bool single);

}  // namespace sfft::detail::tuned
