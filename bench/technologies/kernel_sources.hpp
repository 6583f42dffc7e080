// SPDX-License-Identifier: Apache-2.0
// The kernels' text, embedded in the program: the shared mathematics, followed by a language's kernels.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/technologies/problem.hpp"

namespace sfft::technologies {

/// "#define" lines of a setting and of `flags`; a flag is NAME or NAME VALUE.
std::string defines(const Setting& setting, const std::vector<std::string>& flags);

/// Joins `head`, the mathematics and the kernels of `file`, for example "kernels.cl".
std::string kernel_source(const std::string& file, const std::string& head);

/// The text of one file, for example "kernels.cuh".
std::string kernel_text(const std::string& file);

/// Sets the folder to which the code that drivers and compilers generate from the kernels is written from now
/// on.
void keep_code_in(std::string folder);
/// Writes generated code if keep_code_in() has set a folder. A file that cannot be written is left out.
void keep_code(const std::string& file, const void* code, std::size_t bytes);

}  // namespace sfft::technologies
