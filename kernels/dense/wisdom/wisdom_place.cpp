// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/small_fft.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"
#include "sfft_build_config.hpp"
#if SFFT_HAVE_CUDA
#include "kernels/cuda/runtime.hpp"
#endif

namespace sfft::detail {

WisdomPlace cpu_place() {
  return {std::string("CPU ") + cpu::small_fft_isa(), "", SFFT_VERSION};
}

#if SFFT_HAVE_CUDA

WisdomPlace gpu_place(int device) {
  return {cuda::device_name(device), cuda::driver_version(), SFFT_VERSION};
}

std::optional<WisdomPlace> place_here(const std::string& device) {
  if (const WisdomPlace place = cpu_place(); place.device == device) return place;
  if (device.starts_with("CPU ")) return std::nullopt;
  for (int i = 0; i < cuda::device_count(); ++i) {
    if (const WisdomPlace place = gpu_place(i); place.device == device) return place;
  }
  return std::nullopt;
}

#else

std::optional<WisdomPlace> place_here(const std::string& device) {
  const WisdomPlace place = cpu_place();
  return place.device == device ? std::optional(place) : std::nullopt;
}

#endif

}  // namespace sfft::detail
