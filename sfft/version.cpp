#include <fmt/format.h>

#include "kernels/cpu/isa.hpp"
#include "sfft/sfft.hpp"
#include "sfft_build_config.hpp"

namespace sfft {

const char* version() noexcept {
  return SFFT_VERSION;
}

std::string build_info() {
  std::string text = fmt::format("compiler   {}, {}\n", SFFT_COMPILER, SFFT_BUILD_TYPE);
  text += fmt::format("vectors    {}\n", detail::cpu::to_string(detail::cpu::best_isa()));
  text += dense::available(dense::Engine::fftw)
              ? "FFTW       yes, when asked for (GPL: binaries that contain it are too)\n"
              : "FFTW       no: not needed, dense transforms use the built-in engine\n";
  text += SFFT_CUDA_COMPILER_FOUND ? "CUDA       no: a compiler was found, but this version runs on the CPU\n"
                                   : "CUDA       no: this version runs on the CPU\n";
  return text;
}

}  // namespace sfft
