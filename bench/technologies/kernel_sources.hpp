// SPDX-License-Identifier: Apache-2.0
// The kernels' text, which the program carries: the shared mathematics before a language's kernels.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/technologies/problem.hpp"

namespace sfft::technologies {

/// "#define" lines of a setting, and of `flags`, as NAME or NAME VALUE.
std::string defines(const Setting& setting, const std::vector<std::string>& flags);

/// `head`, the mathematics, the kernels of `file`: "kernels.cl".
std::string kernel_source(const std::string& file, const std::string& head);

/// The text of one file: "kernels.cuh".
std::string kernel_text(const std::string& file);

/// From now on the code that drivers and compilers make of the kernels is written to this folder.
void keep_code_in(std::string folder);
/// Writes what was made of the kernels where that is asked for. A file that cannot be written is left out.
void keep_code(const std::string& file, const void* code, std::size_t bytes);

}  // namespace sfft::technologies
