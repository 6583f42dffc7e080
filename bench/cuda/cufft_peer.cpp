// SPDX-License-Identifier: Apache-2.0
// Calls cuFFT through its 64-bit planner, for every type and direction. Transforms that overwrite their input
// get a copy.
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
  return real ? points() / row_points() * (row_points() / 2 + 1) : points();
}

std::size_t PeerProblem::signal_bytes() const {
  return static_cast<std::size_t>(batch * points()) * (real ? 4 : 8) * (double_precision ? 2 : 1);
}

std::size_t PeerProblem::spectrum_bytes() const {
  return static_cast<std::size_t>(batch * spectrum_points()) * 8 * (double_precision ? 2 : 1);
}

std::int64_t PeerProblem::output_row_reals() const {
  if (!real) return 2 * row_points();
  return inverse ? row_points() : 2 * (row_points() / 2 + 1);
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

cufftType type_of(const PeerProblem& problem) {
  if (!problem.real) return problem.double_precision ? CUFFT_Z2Z : CUFFT_C2C;
  if (problem.inverse) return problem.double_precision ? CUFFT_Z2D : CUFFT_C2R;
  return problem.double_precision ? CUFFT_D2Z : CUFFT_R2C;
}

void require(cufftResult result) {
  if (result != CUFFT_SUCCESS) throw std::runtime_error("cuFFT failed: " + std::to_string(result));
}

class Handle {
 public:
  Handle() { require(cufftCreate(&value_)); }
  ~Handle() { cufftDestroy(value_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator cufftHandle() const { return value_; }  // NOLINT: the object stands for the handle

 private:
  cufftHandle value_ = 0;
};

class CuFft final : public Peer {
 public:
  explicit CuFft(const PeerProblem& problem) : Peer(problem), type_(type_of(problem)) {
    if (problem.in_place && problem.real) throw std::runtime_error("real transforms in place are not timed");
    std::vector<long long> extents(problem.extents.begin(), problem.extents.end());
    const std::int64_t signal = problem.points(), spectrum = problem.spectrum_points();
    std::size_t work = 0;
    if (problem.patient) be_patient();
    require(cufftMakePlanMany64(handle_, static_cast<int>(extents.size()), extents.data(), nullptr, 1,
                                problem.inverse ? spectrum : signal, nullptr, 1,
                                problem.inverse ? signal : spectrum, type_, problem.batch, &work));
    output_ = DeviceBuffer(problem.output_bytes());
    if (consumes_input() && !problem.in_place) held_ = DeviceBuffer(problem.input_bytes());
  }
  std::string name() const override { return "cuFFT"; }
  /// C2R overwrites its input.
  bool consumes_input() const override { return problem_.in_place || (problem_.real && problem_.inverse); }
  void load(const void* input, cudaStream_t stream) override {
    input_ = consumes_input() ? (problem_.in_place ? output_ : held_).data() : const_cast<void*>(input);
    if (input_ != input)
      gpu(cudaMemcpyAsync(input_, input, problem_.input_bytes(), cudaMemcpyDeviceToDevice, stream));
  }
  void enqueue(cudaStream_t stream) override {
    require(cufftSetStream(handle_, stream));
    require(execute());
  }
  const void* result() const override { return output_.data(); }

 private:
  void be_patient() {
#if CUFFT_VERSION >= 11200
    require(cufftSetPlanPropertyInt64(handle_, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 1));
#else
    throw std::runtime_error("this cuFFT compiles no kernels");
#endif
  }
  cufftResult execute() {
    const int sign = problem_.inverse ? CUFFT_INVERSE : CUFFT_FORWARD;
    void* const out = output_.data();
    switch (type_) {
      case CUFFT_R2C:
        return cufftExecR2C(handle_, static_cast<cufftReal*>(input_), static_cast<cufftComplex*>(out));
      case CUFFT_C2R:
        return cufftExecC2R(handle_, static_cast<cufftComplex*>(input_), static_cast<cufftReal*>(out));
      case CUFFT_C2C:
        return cufftExecC2C(handle_, static_cast<cufftComplex*>(input_), static_cast<cufftComplex*>(out),
                            sign);
      case CUFFT_D2Z:
        return cufftExecD2Z(handle_, static_cast<cufftDoubleReal*>(input_),
                            static_cast<cufftDoubleComplex*>(out));
      case CUFFT_Z2D:
        return cufftExecZ2D(handle_, static_cast<cufftDoubleComplex*>(input_),
                            static_cast<cufftDoubleReal*>(out));
      default:
        return cufftExecZ2Z(handle_, static_cast<cufftDoubleComplex*>(input_),
                            static_cast<cufftDoubleComplex*>(out), sign);
    }
  }

  Handle handle_;
  cufftType type_;
  void* input_ = nullptr;
  DeviceBuffer output_, held_;
};

}  // namespace

std::unique_ptr<Peer> make_cufft(const PeerProblem& problem) {
  return std::make_unique<CuFft>(problem);
}

int cufft_version() {
  int version = 0;
  cufftGetVersion(&version);
  return version;
}

}  // namespace sfft::bench
