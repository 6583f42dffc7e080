// SPDX-License-Identifier: Apache-2.0
// Writes kernels as CUDA source: the constant from which the templates in device/ are instantiated.
#pragma once

#include <string>

#include "kernels/dense/tuned/plan/program.hpp"

namespace sfft::detail::tuned {

/// CUDA source of one kernel, a function `sfft_kernel`.
std::string source_of(const Kernel& kernel, bool single);

}  // namespace sfft::detail::tuned
