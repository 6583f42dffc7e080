// SPDX-License-Identifier: Apache-2.0
// Queries the driver for names and versions of GPUs; builds without CUDA know only the CPU.
#include "kernels/cpu/small_fft/small_fft.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"
#include "sfft/error.hpp"
#include "sfft_build_config.hpp"
#if SFFT_HAVE_CUDA
#include "kernels/cuda/runtime/runtime.hpp"
#endif

namespace sfft::detail {

WisdomPlatform cpu_platform() {
  return {std::string("CPU ") + cpu::isa_name(), "", SFFT_VERSION};
}

#if SFFT_HAVE_CUDA

WisdomPlatform gpu_platform(int device) {
  return {cuda::device_name(device), cuda::driver_version(), SFFT_VERSION};
}

std::optional<WisdomPlatform> platform_here(const std::string& device) {
  if (const WisdomPlatform platform = cpu_platform(); platform.device == device) return platform;
  if (device.starts_with("CPU ")) return std::nullopt;
  for (int i = 0; i < cuda::device_count(); ++i) {
    if (const WisdomPlatform platform = gpu_platform(i); platform.device == device) return platform;
  }
  return std::nullopt;
}

#else

WisdomPlatform gpu_platform(int) {
  throw Error(ErrorCode::backend_unavailable, "this build has no GPU backend");
}

std::optional<WisdomPlatform> platform_here(const std::string& device) {
  const WisdomPlatform platform = cpu_platform();
  return platform.device == device ? std::optional(platform) : std::nullopt;
}

#endif

}  // namespace sfft::detail
