// SPDX-License-Identifier: Apache-2.0
// Libraries on CUDA: cuFFT directly, VkFFT and this library's engines through its dense plans, which load the
// driver at run time.
#include <cufft.h>

#include <optional>

#include "bench/technologies/cuda_device.hpp"
#include "bench/technologies/library_shape.hpp"
#include "sfft/dense.hpp"

namespace sfft::technologies {

namespace {

/// Keeps input and output in the device's memory.
class OnCuda : public Technology {
 public:
  explicit OnCuda(int device) : queue_(device, facts_) {}
  const Facts& facts() const override { return facts_; }
  void upload(const Complex* signal) override { queue_.copy(input_.data(), signal, bytes_); }
  void download(Complex* spectrum) override { queue_.copy(spectrum, output_.data(), bytes_); }

 protected:
  void allocate(const Problem& problem) {
    bytes_ = problem.points() * static_cast<std::int64_t>(sizeof(Complex));
    input_ = CudaArray();
    output_ = CudaArray();
    input_ = CudaArray(bytes_);
    output_ = CudaArray(bytes_);
  }
  Facts facts_;
  CudaQueue queue_;
  CudaArray input_, output_;
  std::int64_t bytes_ = 0;
};

void cufft(cufftResult result, const char* call) {
  if (result != CUFFT_SUCCESS) throw Failure(std::string(call) + ": result " + std::to_string(result));
}

class CuFft final : public OnCuda {
 public:
  explicit CuFft(int device) : OnCuda(device) {
    int version = 0;
    cufft(cufftGetVersion(&version), "cufftGetVersion");
    facts_.driver += ", cuFFT " + std::to_string(version);
    facts_.steps = {"cufftPlanMany", "cufftSetStream"};
  }
  ~CuFft() override { clear(); }
  void prepare(const Problem& problem, const Setting&) override {
    clear();
    allocate(problem);
    int extents[] = {static_cast<int>(problem.length()), static_cast<int>(problem.length())};
    cufft(cufftPlanMany(&plan_, problem.rank, extents, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C,
                        static_cast<int>(problem.batch)),
          "cufftPlanMany");
    planned_ = true;
    cufft(cufftSetStream(plan_, queue_.stream()), "cufftSetStream");
  }
  Sample run() override {
    return queue_.timed(
        [this] { cufft(cufftExecC2C(plan_, input_.data(), output_.data(), CUFFT_FORWARD), "cufftExecC2C"); });
  }

 private:
  void clear() {
    if (planned_) cufftDestroy(plan_);
    planned_ = false;
  }
  cufftHandle plan_ = 0;
  bool planned_ = false;
};

/// Plans as users do by default: with the engine that wisdom names, including the wisdom that the library
/// ships.
class DensePlan final : public OnCuda {
 public:
  DensePlan(int device, dense::Engine engine) : OnCuda(device), engine_(engine), device_(device) {
    driver_ = facts_.driver;
    facts_.steps = {"sfft::dense::Plan"};
  }
  void prepare(const Problem& problem, const Setting&) override {
    plan_.reset();
    allocate(problem);
    plan_.emplace(shape_of(problem), Domain::complex,
                  dense::Options{.engine = engine_, .device = Device::gpu(device_), .batch = problem.batch});
    facts_.driver = driver_ + ", " + plan_->engine_name();
    workspace_bytes_ = plan_->device_workspace_bytes();
    workspace_ = CudaArray();
    workspace_ = CudaArray(static_cast<std::int64_t>(workspace_bytes_));
  }
  Sample run() override {
    return queue_.timed([this] {
      plan_->enqueue_forward(input_.data(), ElementType::c64, reinterpret_cast<Complex*>(output_.data()),
                             {reinterpret_cast<std::byte*>(workspace_.data()), workspace_bytes_},
                             queue_.stream());
    });
  }

 private:
  dense::Engine engine_;
  int device_;
  std::string driver_;
  std::optional<dense::Plan<float>> plan_;
  CudaArray workspace_;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Technology> open_cufft(int device) {
  if (!CudaQueue::exists(device)) return nullptr;
  return std::make_unique<CuFft>(device);
}

std::unique_ptr<Technology> open_vkfft_cuda(int device) {
  if (!CudaQueue::exists(device)) return nullptr;
  if (!dense::availability(dense::Engine::vkfft))
    throw Failure("this build has no VkFFT: vkFFT.h was not found");
  return std::make_unique<DensePlan>(device, dense::Engine::vkfft);
}

std::unique_ptr<Technology> open_sfft_cuda(int device) {
  if (!CudaQueue::exists(device)) return nullptr;
  return std::make_unique<DensePlan>(device, dense::Engine::automatic);
}

}  // namespace sfft::technologies
