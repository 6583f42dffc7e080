// SPDX-License-Identifier: Apache-2.0
// SPIR-V of the kernels, by a compiler that is looked for when the program runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sfft::technologies {

enum class ShaderLanguage : std::uint8_t { glsl, hlsl };

/// Throws Failure where there is no compiler, or with its log.
std::vector<std::uint32_t> compile_to_spirv(const std::string& source, ShaderLanguage language);

}  // namespace sfft::technologies
