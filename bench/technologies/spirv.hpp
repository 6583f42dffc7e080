// SPDX-License-Identifier: Apache-2.0
// SPIR-V of the kernels, compiled at run time for every setting.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sfft::technologies {

enum class ShaderLanguage : std::uint8_t { glsl, hlsl };

/// Throws Failure where there is no compiler, or with its log.
std::vector<std::uint32_t> compile_to_spirv(const std::string& source, ShaderLanguage language);

/// The same by glslang, where the build found it.
std::vector<std::uint32_t> glslang_to_spirv(const std::string& source, ShaderLanguage language);

}  // namespace sfft::technologies
