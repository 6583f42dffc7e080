#include "bench/cuda/peers.hpp"

#include <cufft.h>

#include <stdexcept>

#include "bench/cuda/device_memory.hpp"

namespace sfft::bench {

std::int64_t PeerProblem::points() const {
  std::int64_t n = 1;
  for (const std::int64_t extent : extents) n *= extent;
  return n;
}

std::int64_t PeerProblem::spectrum_points() const {
  return real ? points() / extents.back() * (extents.back() / 2 + 1) : points();
}

std::vector<std::complex<double>> Peer::read(std::int64_t frame,
                                             const std::vector<std::int64_t>& positions) const {
  std::vector<std::complex<double>> out;
  for (const std::int64_t at : positions) {
    std::complex<float> value;
    gpu(cudaMemcpy(&value, spectra() + frame * problem_.spectrum_points() + at, sizeof value,
                   cudaMemcpyDeviceToHost));
    out.emplace_back(value);
  }
  return out;
}

namespace {

class CuFft final : public Peer {
 public:
  explicit CuFft(const PeerProblem& problem) : Peer(problem) {
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
  void load(const void* input, cudaStream_t) override { input_ = const_cast<void*>(input); }
  void enqueue(cudaStream_t stream) override {
    require(cufftSetStream(handle_, stream));
    if (problem_.real) {
      require(cufftExecR2C(handle_, static_cast<cufftReal*>(input_), output_.as<cufftComplex>()));
    } else {
      require(cufftExecC2C(handle_, static_cast<cufftComplex*>(input_), output_.as<cufftComplex>(),
                           CUFFT_FORWARD));
    }
  }
  const std::complex<float>* spectra() const override { return output_.as<std::complex<float>>(); }

 private:
  static void require(cufftResult result) {
    if (result != CUFFT_SUCCESS) throw std::runtime_error("cuFFT failed: " + std::to_string(result));
  }
  cufftHandle handle_ = 0;
  void* input_ = nullptr;
  DeviceBuffer output_;
};

}  // namespace

std::unique_ptr<Peer> make_cufft(const PeerProblem& problem) {
  return std::make_unique<CuFft>(problem);
}

}  // namespace sfft::bench
