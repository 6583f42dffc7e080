// SPDX-License-Identifier: Apache-2.0
// VkFFT on OpenCL: its header calls OpenCL's functions, which the table provides.
#include "bench/technologies/opencl_timing.hpp"

#define VKFFT_BACKEND 3
#include <vkFFT.h>

#include "bench/technologies/vkfft_problem.hpp"

namespace sfft::technologies {

namespace {

class VkFftOpenCl final : public Technology {
 public:
  explicit VkFftOpenCl(int device) : queue_(device, facts_) {
    facts_.driver += ", VkFFT " + std::to_string(VkFFTGetVersion());
    facts_.steps.insert(facts_.steps.end(), {"clCreateBuffer", "initializeVkFFT", "VkFFTAppend"});
  }
  ~VkFftOpenCl() override { clear(); }
  const Facts& facts() const override { return facts_; }
  void prepare(const Problem& problem, const Setting&) override {
    clear();
    bytes_ = static_cast<std::uint64_t>(problem.points()) * sizeof(Complex);
    if (static_cast<std::int64_t>(bytes_) > facts_.limits.buffer_bytes)
      throw Failure("larger than one buffer of this device may be");
    input_ = queue_.allocate(static_cast<std::int64_t>(bytes_));
    output_ = queue_.allocate(static_cast<std::int64_t>(bytes_));
    VkFFTConfiguration configuration = vkfft_configuration(problem, &input_, &output_, &bytes_);
    configuration.platform = &queue_.platform;
    configuration.device = &queue_.device;
    configuration.context = &queue_.context;
    initialize_vkfft(application_, configuration);
    planned_ = true;
  }
  void upload(const Complex* signal) override {
    queue_.write(input_, signal, static_cast<std::int64_t>(bytes_));
  }
  void download(Complex* spectrum) override {
    queue_.read(spectrum, output_, static_cast<std::int64_t>(bytes_));
  }
  Sample run() override {
    VkFFTLaunchParams parameters = {};
    parameters.commandQueue = &queue_.queue;
    parameters.buffer = &output_;
    parameters.inputBuffer = &input_;
    return timed(queue_.queue, [&] {
      if (VkFFTAppend(&application_, -1, &parameters) != VKFFT_SUCCESS) throw Failure("VkFFTAppend failed");
    });
  }

 private:
  void clear() {
    if (planned_) deleteVkFFT(&application_);
    application_ = {};
    planned_ = false;
    if (input_ != nullptr) clReleaseMemObject(input_);
    if (output_ != nullptr) clReleaseMemObject(output_);
    input_ = output_ = nullptr;
  }
  Facts facts_;
  OpenClQueue queue_;
  std::uint64_t bytes_ = 0;
  cl_mem input_ = nullptr, output_ = nullptr;
  VkFFTApplication application_ = {};
  bool planned_ = false;
};

}  // namespace

std::unique_ptr<Technology> open_vkfft_opencl(int device) {
  if (!OpenClQueue::exists(device)) return nullptr;
  return std::make_unique<VkFftOpenCl>(device);
}

}  // namespace sfft::technologies
