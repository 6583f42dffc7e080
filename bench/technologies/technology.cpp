// SPDX-License-Identifier: Apache-2.0
// Lists what is compared, and checks that a problem fits a device.
#include "bench/technologies/technology.hpp"

#include <algorithm>

namespace sfft::technologies {

void Port::prepare(const Problem& problem, const Setting& setting) {
  const Limits& limits = facts_.limits;
  if (limits.group_threads > 0 && setting.threads > limits.group_threads) {
    throw Failure(std::to_string(setting.threads) + " threads per group: this device allows " +
                  std::to_string(limits.group_threads));
  }
  if (problem.points() > std::int64_t{1} << 31) throw Failure("more points than 32-bit indices reach");
  problem_ = problem;
  setting_ = setting;
  schedule_ = make_schedule(problem, setting, limits.groups_x);
  for (const Launch& launch : schedule_) {
    if (limits.shared_bytes > 0 && launch.shared_bytes(setting) > limits.shared_bytes) {
      throw Failure(std::to_string(launch.shared_bytes(setting)) +
                    " bytes of shared memory: this device has " + std::to_string(limits.shared_bytes));
    }
  }
  build(setting);
  fit(bytes());
  record();
}

void Port::fit(std::int64_t bytes) {
  const Limits& limits = facts_.limits;
  if (limits.buffer_bytes > 0 && bytes > limits.buffer_bytes) {
    throw Failure(std::to_string(bytes) + " bytes in one buffer: this device allows " +
                  std::to_string(limits.buffer_bytes));
  }
  if (limits.memory_bytes > 0 && kArrays * bytes > limits.memory_bytes) {
    throw Failure(std::to_string(kArrays * bytes) + " bytes in three buffers: this device has " +
                  std::to_string(limits.memory_bytes));
  }
  if (bytes <= allocated_) return;
  allocated_ = 0;
  allocate(bytes);
  allocated_ = bytes;
}

std::vector<Entry> all_technologies() {
  return {{"C++", true, open_cpu},
          {"OpenMP", true, open_openmp},
          {"CUDA", true, open_cuda},
          {"OpenCL", true, open_opencl},
          {"OpenGL", true, open_opengl},
          {"Vulkan GLSL", true, open_vulkan_glsl},
          {"Vulkan HLSL", true, open_vulkan_hlsl},
          {"HIP", true, open_hip},
          {"emulation", true, open_emulation},
          {"cuFFT", false, open_cufft},
          {"VkFFT CUDA", false, open_vkfft_cuda},
          {"VkFFT OpenCL", false, open_vkfft_opencl},
          {"VkFFT Vulkan", false, open_vkfft_vulkan},
          {"clFFT", false, open_clfft},
          {"FFTW", false, open_fftw},
          {"FFTW threads", false, open_fftw_threads},
          {"sfft CPU", false, open_sfft_cpu},
          {"sfft CUDA", false, open_sfft_cuda}};
}

}  // namespace sfft::technologies
