#include <stdexcept>

#include "bench/cuda/device_memory.hpp"
#include "bench/cuda/peers.hpp"

#define VKFFT_BACKEND 1
#include <vkFFT.h>

namespace sfft::bench {

namespace {

/// In place; real rows are padded to 2 (nD/2 + 1) floats, VkFFT's own layout.
class VkFft final : public Peer {
 public:
  explicit VkFft(const PeerProblem& problem) : Peer(problem) {
    gpu(cudaFree(nullptr));
    const auto row = static_cast<std::uint64_t>(problem.real ? 2 * (problem.extents.back() / 2 + 1)
                                                             : problem.extents.back());
    bytes_ = static_cast<std::uint64_t>(problem.batch * problem.spectrum_points()) * 8;
    buffer_ = DeviceBuffer(bytes_);
    address_ = buffer_.data();
    cuDeviceGet(&device_, 0);
    VkFFTConfiguration configuration = {};
    configuration.FFTdim = problem.extents.size();
    for (std::size_t d = 0; d < problem.extents.size(); ++d)
      configuration.size[d] = static_cast<std::uint64_t>(problem.extents[problem.extents.size() - 1 - d]);
    configuration.numberBatches = static_cast<std::uint64_t>(problem.batch);
    configuration.performR2C = problem.real;
    configuration.device = &device_;
    configuration.stream = &stream_;
    configuration.num_streams = 1;
    configuration.buffer = &address_;
    configuration.bufferSize = &bytes_;
    if (const VkFFTResult result = initializeVkFFT(&application_, configuration); result != VKFFT_SUCCESS)
      throw std::runtime_error("VkFFT cannot plan this: " + std::to_string(result));
    row_bytes_ = row * 4;
  }
  ~VkFft() override { deleteVkFFT(&application_); }

  std::string name() const override { return "VkFFT"; }
  void load(const void* input, cudaStream_t stream) override {
    if (!problem_.real) {
      gpu(cudaMemcpyAsync(buffer_.data(), input, bytes_, cudaMemcpyDeviceToDevice, stream));
      return;
    }
    const auto width = static_cast<std::size_t>(problem_.extents.back()) * 4;
    const auto rows = static_cast<std::size_t>(problem_.batch * problem_.points() / problem_.extents.back());
    gpu(cudaMemcpy2DAsync(buffer_.data(), row_bytes_, input, width, width, rows, cudaMemcpyDeviceToDevice,
                          stream));
  }
  void enqueue(cudaStream_t stream) override {
    stream_ = stream;
    VkFFTLaunchParams parameters = {};
    parameters.buffer = &address_;
    if (VkFFTAppend(&application_, -1, &parameters) != VKFFT_SUCCESS)
      throw std::runtime_error("VkFFT failed");
  }
  const std::complex<float>* spectra() const override { return buffer_.as<std::complex<float>>(); }

 private:
  DeviceBuffer buffer_;
  void* address_ = nullptr;
  std::uint64_t bytes_ = 0, row_bytes_ = 0;
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

}  // namespace sfft::bench
