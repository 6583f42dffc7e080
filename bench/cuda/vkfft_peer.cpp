// SPDX-License-Identifier: Apache-2.0
// Configures VkFFT for one problem. Its strides and buffers depend on whether the transform is real, inverse
// or in place.
#include <stdexcept>

#include "bench/cuda/device_memory.hpp"
#include "bench/cuda/peers.hpp"

#define VKFFT_BACKEND 1
#include <vkFFT.h>

namespace sfft::bench {

namespace {

/// In place, real rows are padded to 2 (nD/2 + 1) numbers, which is VkFFT's layout. Otherwise the input is
/// read where it is.
class VkFft final : public Peer {
 public:
  explicit VkFft(const PeerProblem& problem) : Peer(problem) {
    gpu(cudaFree(nullptr));
    const std::int64_t row = problem.row_points();
    const std::size_t real_bytes = problem.double_precision ? 8 : 4;
    row_bytes_ = static_cast<std::size_t>(row) * real_bytes;
    padded_bytes_ = static_cast<std::size_t>(row / 2 + 1) * 2 * real_bytes;
    bytes_ = problem.spectrum_bytes();
    input_bytes_ = problem.input_bytes();
    buffer_ = DeviceBuffer(bytes_);
    address_ = buffer_.data();
    cuDeviceGet(&device_, 0);
    VkFFTConfiguration configuration = {};
    configuration.FFTdim = problem.extents.size();
    for (std::size_t d = 0; d < problem.extents.size(); ++d)
      configuration.size[d] = static_cast<std::uint64_t>(problem.extents[problem.extents.size() - 1 - d]);
    configuration.numberBatches = static_cast<std::uint64_t>(problem.batch);
    configuration.performR2C = problem.real;
    configuration.doublePrecision = problem.double_precision;
    configuration.device = &device_;
    configuration.stream = &stream_;
    configuration.num_streams = 1;
    configuration.buffer = &address_;
    configuration.bufferSize = &bytes_;
    if (!problem.in_place) {
      // The strides of the other dimensions and of the batch follow from this one.
      const std::int64_t stride = problem.real && problem.inverse ? row / 2 + 1 : row;
      configuration.isInputFormatted = 1;
      configuration.inputBufferStride[0] = static_cast<std::uint64_t>(stride);
      configuration.inputBufferSize = &input_bytes_;
    }
    if (const VkFFTResult result = initializeVkFFT(&application_, configuration); result != VKFFT_SUCCESS)
      throw std::runtime_error("VkFFT cannot plan this: " + std::to_string(result));
  }
  ~VkFft() override { deleteVkFFT(&application_); }

  std::string name() const override { return "VkFFT"; }
  void load(const void* input, cudaStream_t stream) override {
    input_ = const_cast<void*>(input);
    if (!problem_.in_place) return;
    if (!problem_.real || problem_.inverse) {
      gpu(cudaMemcpyAsync(buffer_.data(), input, bytes_, cudaMemcpyDeviceToDevice, stream));
      return;
    }
    gpu(cudaMemcpy2DAsync(buffer_.data(), padded_bytes_, input, row_bytes_, row_bytes_,
                          static_cast<std::size_t>(problem_.output_rows()), cudaMemcpyDeviceToDevice,
                          stream));
  }
  void enqueue(cudaStream_t stream) override {
    stream_ = stream;
    VkFFTLaunchParams parameters = {};
    parameters.buffer = &address_;
    if (!problem_.in_place) parameters.inputBuffer = &input_;
    if (VkFFTAppend(&application_, problem_.inverse ? 1 : -1, &parameters) != VKFFT_SUCCESS)
      throw std::runtime_error("VkFFT failed");
  }
  const void* result() const override { return buffer_.data(); }
  std::int64_t result_pitch() const override {
    return problem_.real ? 2 * (problem_.row_points() / 2 + 1) : 2 * problem_.row_points();
  }

 private:
  DeviceBuffer buffer_;
  void* address_ = nullptr;
  void* input_ = nullptr;
  std::uint64_t bytes_ = 0, input_bytes_ = 0;
  std::size_t row_bytes_ = 0, padded_bytes_ = 0;
  CUdevice device_ = 0;
  cudaStream_t stream_ = nullptr;
  VkFFTApplication application_ = {};
};

}  // namespace

std::unique_ptr<Peer> make_vkfft(const PeerProblem& problem) {
  try {
    return std::make_unique<VkFft>(problem);
  } catch (const std::exception&) {
    return nullptr;
  }
}

int vkfft_version() {
  return VkFFTGetVersion();
}

}  // namespace sfft::bench
