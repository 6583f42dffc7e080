// SPDX-License-Identifier: Apache-2.0
// Joins the embedded texts of the kernels.
#include "bench/technologies/kernel_sources.hpp"

#include <fstream>
#include <utility>

#include "kernels/runtime/embedded.hpp"

namespace sfft::detail {
extern const EmbeddedFile technology_kernels[];
extern const int technology_kernelsCount;
}  // namespace sfft::detail

namespace sfft::technologies {

namespace {

std::string& code_folder() {
  static std::string folder;
  return folder;
}

}  // namespace

std::string kernel_text(const std::string& file) {
  for (int i = 0; i < detail::technology_kernelsCount; ++i) {
    const detail::EmbeddedFile& each = detail::technology_kernels[i];
    if (std::string(each.name) == "bench/technologies/kernels/" + file) return each.text;
  }
  throw Failure("this build carries no " + file);
}

std::string defines(const Setting& setting, const std::vector<std::string>& flags) {
  std::string text;
  for (const std::string& flag : flags) text += "#define " + flag + "\n";
  text += "#define FFT_THREADS " + std::to_string(setting.threads) + "\n";
  text += "#define FFT_TILE " + std::to_string(setting.tile) + "\n";
  if (setting.built_in_sincos) text += "#define FFT_BUILT_IN_SINCOS\n";
  return text;
}

std::string kernel_source(const std::string& file, const std::string& head) {
  return head + kernel_text("fft_math.h") + kernel_text(file);
}

void keep_code_in(std::string folder) {
  code_folder() = std::move(folder);
}

void keep_code(const std::string& file, const void* code, std::size_t bytes) {
  if (code_folder().empty()) return;
  std::ofstream out(code_folder() + "/" + file, std::ios::binary);
  out.write(static_cast<const char*>(code), static_cast<std::streamsize>(bytes));
}

}  // namespace sfft::technologies
