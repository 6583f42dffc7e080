// SPDX-License-Identifier: Apache-2.0
// Compiles by glslang if the build has it, else by libshaderc if the machine has it; both know GLSL and HLSL.
// (libshaderc.so.1 of Debian 12 lacks symbols and does not load.) The few functions of libshaderc that this
// needs are declared here.
#include "bench/technologies/spirv.hpp"

#include <cstring>

#include "bench/technologies/dynamic_library.hpp"
#include "bench/technologies/problem.hpp"

namespace sfft::technologies {

namespace {

struct Shaderc {
  Shaderc() : library({"libshaderc.so.1", "libshaderc_shared.so.1", "libshaderc_shared.so"}) {
    library.require(make_compiler, "shaderc_compiler_initialize");
    library.require(make_options, "shaderc_compile_options_initialize");
    library.require(free_options, "shaderc_compile_options_release");
    library.require(set_language, "shaderc_compile_options_set_source_language");
    library.require(set_optimization, "shaderc_compile_options_set_optimization_level");
    library.require(set_target, "shaderc_compile_options_set_target_env");
    library.require(compile, "shaderc_compile_into_spv");
    library.require(status, "shaderc_result_get_compilation_status");
    library.require(length, "shaderc_result_get_length");
    library.require(bytes, "shaderc_result_get_bytes");
    library.require(error, "shaderc_result_get_error_message");
    library.require(free_result, "shaderc_result_release");
    compiler = make_compiler();
    if (compiler == nullptr) throw Failure("libshaderc does not start");
  }
  DynamicLibrary library;
  void* (*make_compiler)() = nullptr;
  void* (*make_options)() = nullptr;
  void (*free_options)(void*) = nullptr;
  void (*set_language)(void*, int) = nullptr;
  void (*set_optimization)(void*, int) = nullptr;
  void (*set_target)(void*, int, std::uint32_t) = nullptr;
  void* (*compile)(const void*, const char*, std::size_t, int, const char*, const char*,
                   const void*) = nullptr;
  int (*status)(const void*) = nullptr;
  std::size_t (*length)(const void*) = nullptr;
  const char* (*bytes)(const void*) = nullptr;
  const char* (*error)(const void*) = nullptr;
  void (*free_result)(void*) = nullptr;
  void* compiler = nullptr;
};

}  // namespace

std::vector<std::uint32_t> compile_to_spirv(const std::string& source, ShaderLanguage language) {
#if SFFT_TECHNOLOGIES_GLSLANG
  return glslang_to_spirv(source, language);
#endif
  constexpr int kCompute = 2, kForVulkan = 0, kForSpeed = 2;
  constexpr std::uint32_t kVulkan11 = (1U << 22) | (1U << 12);
  static const Shaderc shaderc;
  void* options = shaderc.make_options();
  shaderc.set_language(options, language == ShaderLanguage::hlsl ? 1 : 0);
  shaderc.set_optimization(options, kForSpeed);
  shaderc.set_target(options, kForVulkan, kVulkan11);
  void* result =
      shaderc.compile(shaderc.compiler, source.data(), source.size(), kCompute, "kernels", "main", options);
  shaderc.free_options(options);
  if (result == nullptr) throw Failure("libshaderc: out of memory");
  if (shaderc.status(result) != 0) {
    const std::string log = shaderc.error(result);
    shaderc.free_result(result);
    throw Failure("libshaderc does not compile the kernels: " + log);
  }
  std::vector<std::uint32_t> words(shaderc.length(result) / sizeof(std::uint32_t));
  std::memcpy(words.data(), shaderc.bytes(result), words.size() * sizeof(std::uint32_t));
  shaderc.free_result(result);
  return words;
}

}  // namespace sfft::technologies
