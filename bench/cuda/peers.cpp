#include "bench/cuda/peers.hpp"

#include <cufft.h>

#include <stdexcept>

#include "bench/cuda/timing.hpp"

#if SFFT_BENCH_VKFFT
#define VKFFT_BACKEND 1
#include <vkFFT.h>
#endif

namespace sfft::bench {

std::int64_t PeerProblem::points() const {
  std::int64_t n = 1;
  for (const std::int64_t extent : extents) n *= extent;
  return n;
}

std::int64_t PeerProblem::spectrum_points() const {
  return real ? points() / extents.back() * (extents.back() / 2 + 1) : points();
}

namespace {

using detail::cuda::DeviceBuffer;

std::vector<std::complex<double>> pick(const void* spectrum, const std::vector<std::int64_t>& positions) {
  std::vector<std::complex<double>> out;
  for (const std::int64_t at : positions) {
    std::complex<float> value;
    gpu(cudaMemcpy(&value, static_cast<const std::complex<float>*>(spectrum) + at, sizeof value,
                   cudaMemcpyDeviceToHost));
    out.emplace_back(value);
  }
  return out;
}

class CuFft final : public Peer {
 public:
  explicit CuFft(const PeerProblem& problem) : problem_(problem) {
    std::vector<long long> extents(problem.extents.begin(), problem.extents.end());
    std::size_t work = 0;
    require(cufftCreate(&handle_));
    require(cufftMakePlanMany64(handle_, static_cast<int>(extents.size()), extents.data(), nullptr, 1,
                                problem.points(), nullptr, 1, problem.spectrum_points(),
                                problem.real ? CUFFT_R2C : CUFFT_C2C, problem.batch, &work));
    output_ = DeviceBuffer(static_cast<std::size_t>(problem.batch * problem.spectrum_points()) * 8);
  }
  ~CuFft() override { cufftDestroy(handle_); }

  std::string name() const override { return "cuFFT"; }
  void load(const void* input) override { input_ = const_cast<void*>(input); }
  void enqueue(cudaStream_t stream) override {
    require(cufftSetStream(handle_, stream));
    if (problem_.real) {
      require(cufftExecR2C(handle_, static_cast<cufftReal*>(input_), output_.as<cufftComplex>()));
    } else {
      require(cufftExecC2C(handle_, static_cast<cufftComplex*>(input_), output_.as<cufftComplex>(),
                           CUFFT_FORWARD));
    }
  }
  std::vector<std::complex<double>> read(std::int64_t frame,
                                         const std::vector<std::int64_t>& positions) override {
    return pick(output_.as<std::complex<float>>() + frame * problem_.spectrum_points(), positions);
  }

 private:
  static void require(cufftResult result) {
    if (result != CUFFT_SUCCESS) throw std::runtime_error("cuFFT failed: " + std::to_string(result));
  }
  PeerProblem problem_;
  cufftHandle handle_ = 0;
  void* input_ = nullptr;
  DeviceBuffer output_;
};

#if SFFT_BENCH_VKFFT
/// In place; real rows are padded to 2 (nD/2 + 1) floats, VkFFT's own layout.
class VkFft final : public Peer {
 public:
  explicit VkFft(const PeerProblem& problem) : problem_(problem) {
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
  void load(const void* input) override {
    if (!problem_.real) {
      gpu(cudaMemcpy(buffer_.data(), input, bytes_, cudaMemcpyDeviceToDevice));
      return;
    }
    const auto width = static_cast<std::size_t>(problem_.extents.back()) * 4;
    gpu(cudaMemcpy2D(buffer_.data(), row_bytes_, input, width, width,
                     static_cast<std::size_t>(problem_.batch * problem_.points() / problem_.extents.back()),
                     cudaMemcpyDeviceToDevice));
  }
  void enqueue(cudaStream_t stream) override {
    stream_ = stream;
    VkFFTLaunchParams parameters = {};
    parameters.buffer = &address_;
    if (VkFFTAppend(&application_, -1, &parameters) != VKFFT_SUCCESS)
      throw std::runtime_error("VkFFT failed");
  }
  std::vector<std::complex<double>> read(std::int64_t frame,
                                         const std::vector<std::int64_t>& positions) override {
    return pick(buffer_.as<std::complex<float>>() + frame * problem_.spectrum_points(), positions);
  }

 private:
  PeerProblem problem_;
  DeviceBuffer buffer_;
  void* address_ = nullptr;
  std::uint64_t bytes_ = 0, row_bytes_ = 0;
  CUdevice device_ = 0;
  cudaStream_t stream_ = nullptr;
  VkFFTApplication application_ = {};
};
#endif

}  // namespace

std::unique_ptr<Peer> make_cufft(const PeerProblem& problem) {
  return std::make_unique<CuFft>(problem);
}

std::unique_ptr<Peer> make_vkfft(const PeerProblem& problem) {
#if SFFT_BENCH_VKFFT
  try {
    return std::make_unique<VkFft>(problem);
  } catch (const std::exception&) {
    return nullptr;
  }
#else
  static_cast<void>(problem);
  return nullptr;
#endif
}

}  // namespace sfft::bench
