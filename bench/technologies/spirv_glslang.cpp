// SPDX-License-Identifier: Apache-2.0
// Compiles by glslang, which is linked if the build found it. Its C interface cannot name HLSL's entry point,
// so this uses the C++ interface.
#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>

#include "bench/technologies/problem.hpp"
#include "bench/technologies/spirv.hpp"

namespace sfft::technologies {

std::vector<std::uint32_t> glslang_to_spirv(const std::string& source, ShaderLanguage language) {
  static const bool started = glslang::InitializeProcess();
  if (!started) throw Failure("glslang does not start");
  const bool hlsl = language == ShaderLanguage::hlsl;
  const auto rules =
      static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules | (hlsl ? EShMsgReadHlsl : EShMsgDefault));
  const char* text = source.c_str();
  glslang::TShader shader(EShLangCompute);
  shader.setStrings(&text, 1);
  shader.setEntryPoint("main");
  shader.setSourceEntryPoint("main");
  shader.setEnvInput(hlsl ? glslang::EShSourceHlsl : glslang::EShSourceGlsl, EShLangCompute,
                     glslang::EShClientVulkan, hlsl ? 500 : 450);
  shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_1);
  shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_3);
  if (!shader.parse(GetDefaultResources(), hlsl ? 500 : 450, false, rules))
    throw Failure(std::string("glslang does not compile the kernels: ") + shader.getInfoLog());
  glslang::TProgram program;
  program.addShader(&shader);
  if (!program.link(rules))
    throw Failure(std::string("glslang does not link the kernels: ") + program.getInfoLog());
  std::vector<std::uint32_t> words;
  glslang::GlslangToSpv(*program.getIntermediate(EShLangCompute), words);
  if (words.empty()) throw Failure("glslang makes no SPIR-V of the kernels");
  return words;
}

}  // namespace sfft::technologies
