// SPDX-License-Identifier: Apache-2.0
// Compiles the kernels to SPIR-V at run time for every setting.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sfft::technologies {

enum class ShaderLanguage : std::uint8_t { glsl, hlsl };

/// Throws Failure if there is no compiler, or with the compiler's log.
std::vector<std::uint32_t> compile_to_spirv(const std::string& source, ShaderLanguage language);

/// Compiles by glslang, if the build has it.
std::vector<std::uint32_t> glslang_to_spirv(const std::string& source, ShaderLanguage language);

}  // namespace sfft::technologies
