// SPDX-License-Identifier: Apache-2.0
// Stands in for technologies that this build lacks: opening one gives a reason instead of a device.
#include "bench/technologies/technology.hpp"

namespace sfft::technologies {

#if !SFFT_TECHNOLOGIES_CUDA
namespace {
constexpr const char* kNoCuda = "this build has no CUDA: no CUDA compiler was found";
}
std::unique_ptr<Technology> open_cuda(int) {
  throw Failure(kNoCuda);
}
std::unique_ptr<Technology> open_cufft(int) {
  throw Failure(kNoCuda);
}
std::unique_ptr<Technology> open_vkfft_cuda(int) {
  throw Failure(kNoCuda);
}
std::unique_ptr<Technology> open_sfft_cuda(int) {
  throw Failure(kNoCuda);
}
#endif

#if !SFFT_TECHNOLOGIES_OPENCL
namespace {
constexpr const char* kNoOpenCl = "this build has no OpenCL: CL/cl.h was not found (opencl-headers)";
}
std::unique_ptr<Technology> open_opencl(int) {
  throw Failure(kNoOpenCl);
}
std::unique_ptr<Technology> open_clfft(int) {
  throw Failure(kNoOpenCl);
}
#endif

#if !SFFT_TECHNOLOGIES_OPENGL
std::unique_ptr<Technology> open_opengl(int) {
  throw Failure(
      "this build has no OpenGL: EGL/egl.h and GL/glcorearb.h were not found (libegl-dev, libgl-dev)");
}
#endif

#if !SFFT_TECHNOLOGIES_VULKAN
namespace {
constexpr const char* kNoVulkan = "this build has no Vulkan: vulkan/vulkan.h was not found (libvulkan-dev)";
}
std::unique_ptr<Technology> open_vulkan_glsl(int) {
  throw Failure(kNoVulkan);
}
std::unique_ptr<Technology> open_vulkan_hlsl(int) {
  throw Failure(kNoVulkan);
}
#endif

#if !SFFT_TECHNOLOGIES_VKFFT_OPENCL
std::unique_ptr<Technology> open_vkfft_opencl(int) {
  throw Failure("this build has no VkFFT on OpenCL: it needs SFFT_BUILD_BENCH_PROGRAMS, vkFFT.h and CL/cl.h");
}
#endif

#if !SFFT_TECHNOLOGIES_VKFFT_VULKAN
std::unique_ptr<Technology> open_vkfft_vulkan(int) {
  throw Failure(
      "this build has no VkFFT on Vulkan: it needs SFFT_BUILD_BENCH_PROGRAMS, vkFFT.h, vulkan/vulkan.h and "
      "glslang "
      "(glslang-dev)");
}
#endif

}  // namespace sfft::technologies
