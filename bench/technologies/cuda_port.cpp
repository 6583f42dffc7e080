// SPDX-License-Identifier: Apache-2.0
// The host side of the CUDA port.

#include "bench/technologies/cuda_device.hpp"
#include "bench/technologies/cuda_launch.hpp"
#include "kernels/base/math/quantiles.hpp"

namespace sfft::technologies {

namespace {

class CudaPort final : public Port {
 public:
  explicit CudaPort(int device) : queue_(device, facts_) {
    for (const char* call : {"cudaSetDevice", "cudaStreamCreate", "cudaMalloc", "cudaMemcpyAsync", "<<<>>>"})
      step(call);
    measure_copies();
  }
  void upload(const Complex* signal) override { queue_.copy(array(Array::input), signal, bytes()); }
  void download(Complex* spectrum) override { queue_.copy(spectrum, array(Array::result), bytes()); }
  Sample run() override {
    return queue_.timed([this] {
      for (const Launch& launch : schedule_) enqueue(launch);
    });
  }

 private:
  /// Measures the bandwidth of a copy. It bounds the speed of a stage, which reads and writes every point
  /// once.
  void measure_copies() {
    constexpr std::int64_t kBytes = std::int64_t{512} << 20;
    if (facts_.limits.memory_bytes < 4 * kBytes) return;
    const CudaArray from(kBytes), to(kBytes);
    std::vector<double> times;
    for (int i = 0; i < 11; ++i) {
      const Sample sample = queue_.timed([&] {
        cuda(cudaMemcpyAsync(to.data(), from.data(), kBytes, cudaMemcpyDeviceToDevice, queue_.stream()),
             "cudaMemcpyAsync");
      });
      times.push_back(sample.device_us);
    }
    facts_.copy_bytes_per_s = 2e6 * static_cast<double>(kBytes) / detail::median_in_place(times);
  }
  float2* array(Array array) const { return arrays_[static_cast<int>(array)].data(); }
  void build(const Setting& setting) override {
    if (setting.built_in_sincos)
      throw Failure("this build's CUDA kernels have the shared twiddle factors alone");
    if (setting.tile != 16 && setting.tile != 32 && setting.tile != 64)
      throw Failure("tiles of 16, 32 and 64 are compiled in");
  }
  void allocate(std::int64_t bytes) override {
    for (CudaArray& each : arrays_) each = CudaArray();
    for (CudaArray& each : arrays_) each = CudaArray(bytes);
  }
  void enqueue(const Launch& launch) const {
    const LaunchSize size{launch.groups, static_cast<unsigned>(launch.group_threads), queue_.stream()};
    const float2* source = array(launch.source);
    float2* target = array(launch.target);
    if (launch.kernel == Kernel::stage) cuda(launch_stage(size, source, target, launch.parameters), "stage");
    if (launch.kernel == Kernel::parts) cuda(launch_parts(size, source, target, launch.parameters), "parts");
    if (launch.kernel == Kernel::transpose)
      cuda(launch_transpose(size, setting_.tile, source, target, launch.parameters), "transposition");
  }

  CudaQueue queue_;
  CudaArray arrays_[kArrays];
};

}  // namespace

std::unique_ptr<Technology> open_cuda(int device) {
  if (!CudaQueue::exists(device)) return nullptr;
  return std::make_unique<CudaPort>(device);
}

}  // namespace sfft::technologies
