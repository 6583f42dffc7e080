// SPDX-License-Identifier: Apache-2.0
// Reports the version and what this build and this machine can do; the answers come from the build
// configuration and from the driver.
#include <fmt/format.h>

#include "kernels/cpu/platform/isa.hpp"
#include "sfft/plan/device_memory.hpp"
#include "sfft/sfft.hpp"
#include "sfft_build_config.hpp"
#if SFFT_HAVE_CUDA
#include "kernels/cuda/runtime/runtime.hpp"
#endif

namespace sfft {

const char* version() noexcept {
  return SFFT_VERSION;
}

std::string build_info() {
  std::string text = fmt::format("compiler   {}, {}\n", SFFT_COMPILER, SFFT_BUILD_TYPE);
  text += fmt::format("vectors    {}\n", detail::cpu::isa_name());
  text += dense::availability(dense::Engine::fftw)
              ? "FFTW       yes (GPL: so are binaries that contain it), as an opt-in dense engine\n"
              : "FFTW       no: not needed, dense transforms use the built-in engine\n";
#if SFFT_HAVE_CUDA
  const std::string problem = detail::cuda::unavailable();
  text += fmt::format(
      "CUDA       toolkit {}, code for {}; {}\n", SFFT_CUDA_VERSION, SFFT_CUDA_TARGETS,
      problem.empty() ? detail::cuda::device_info(0).name : fmt::format("not usable here: {}", problem));
  text += dense::availability(dense::Engine::vkfft)
              ? "VkFFT      yes, for dense transforms on GPUs where NVRTC is found\n"
              : "VkFFT      no: its header was not found, dense transforms on GPUs use other engines\n";
#else
  text += "CUDA       no: built without a CUDA toolkit\n";
#endif
#if SFFT_HAVE_MPI
  text += fmt::format("MPI        {}, for sfft-mpi{}\n", SFFT_MPI_VERSION,
                      SFFT_HAVE_FFTW_MPI ? "; with FFTW's transforms (GPL)" : "");
#else
  text += "MPI        no: sfft-mpi was not built\n";
#endif
  return text;
}

}  // namespace sfft
