// SPDX-License-Identifier: Apache-2.0
// OpenCL: the driver compiles the kernels for every setting, and an in-order queue times them by its events'
// stamps.
#include <map>

#include "bench/technologies/clock.hpp"
#include "bench/technologies/kernel_sources.hpp"
#include "bench/technologies/opencl_api.hpp"

namespace sfft::technologies {

namespace {

class OpenClPort final : public Port {
 public:
  explicit OpenClPort(int device) : queue_(device, facts_) {
    for (const char* call :
         {"clCreateProgramWithSource", "clBuildProgram", "clCreateKernel", "clCreateBuffer",
          "clEnqueueWriteBuffer", "clSetKernelArg", "clEnqueueNDRangeKernel"}) {
      step(call);
    }
  }
  ~OpenClPort() override {
    release();
    for (const auto& [key, built] : built_) {
      for (cl_kernel kernel : built.kernels) clReleaseKernel(kernel);
      clReleaseProgram(built.program);
    }
  }
  void upload(const Complex* signal) override { queue_.write(array(Array::input), signal, bytes()); }
  void download(Complex* spectrum) override { queue_.read(spectrum, array(Array::result), bytes()); }
  Sample run() override {
    const Stopwatch watch;
    cl_event first = nullptr, last = nullptr;
    for (std::size_t i = 0; i < schedule_.size(); ++i) {
      cl_event* event = i + 1 == schedule_.size() ? &last : i == 0 ? &first : nullptr;
      enqueue(schedule_[i], event);
    }
    opencl(clFlush(queue_.queue), "clFlush");
    Sample sample;
    sample.submit_us = watch.us();
    opencl(clFinish(queue_.queue), "clFinish");
    sample.wall_us = watch.us();
    sample.device_us = OpenClQueue::span_us(first == nullptr ? last : first, last);
    return sample;
  }

 private:
  struct Built {
    cl_program program = nullptr;
    cl_kernel kernels[kKernels] = {};
  };

  cl_mem array(Array array) const { return arrays_[static_cast<int>(array)]; }

  void build(const Setting& setting) override {
    const auto key = std::make_tuple(setting.threads, setting.tile, setting.built_in_sincos);
    if (const auto found = built_.find(key); found != built_.end()) {
      kernels_ = found->second.kernels;
      return;
    }
    Built built;
    built.program =
        queue_.build(kernel_source("kernels.cl", defines(setting, {"FFT_OPENCL"})), "-cl-std=CL1.2");
    keep(built.program, setting);
    static constexpr const char* kNames[kKernels] = {"fft_stage", "fft_parts", "fft_transpose"};
    for (int i = 0; i < kKernels; ++i) {
      cl_int status = CL_SUCCESS;
      built.kernels[i] = clCreateKernel(built.program, kNames[i], &status);
      opencl(status, "clCreateKernel");
      // A kernel may allow fewer threads than the device.
      std::size_t max = 0;
      clGetKernelWorkGroupInfo(built.kernels[i], queue_.device, CL_KERNEL_WORK_GROUP_SIZE, sizeof max, &max,
                               nullptr);
      if (max > 0 && max < static_cast<std::size_t>(setting.threads)) {
        throw Failure("the kernel as compiled takes " + std::to_string(max) + " threads per group");
      }
    }
    kernels_ = built_.emplace(key, built).first->second.kernels;
  }
  /// NVIDIA's driver yields PTX; other drivers have formats of their own.
  static void keep(cl_program program, const Setting& setting) {
    std::size_t size = 0;
    clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr);
    std::vector<unsigned char> code(size);
    unsigned char* bytes = code.data();
    if (size == 0 ||
        clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, nullptr) != CL_SUCCESS)
      return;
    keep_code("opencl_" + std::to_string(setting.threads) + "_" + std::to_string(setting.tile) + ".bin",
              bytes, size);
  }
  void release() {
    for (cl_mem& memory : arrays_) {
      if (memory != nullptr) clReleaseMemObject(memory);
      memory = nullptr;
    }
  }
  void allocate(std::int64_t bytes) override {
    release();
    for (cl_mem& memory : arrays_) memory = queue_.allocate(bytes);
  }
  void enqueue(const Launch& launch, cl_event* event) const {
    cl_kernel kernel = kernels_[static_cast<int>(launch.kernel)];
    const cl_mem source = array(launch.source), target = array(launch.target);
    opencl(clSetKernelArg(kernel, 0, sizeof source, &source), "clSetKernelArg");
    opencl(clSetKernelArg(kernel, 1, sizeof target, &target), "clSetKernelArg");
    opencl(clSetKernelArg(kernel, 2, sizeof launch.parameters, &launch.parameters), "clSetKernelArg");
    const auto local = static_cast<std::size_t>(launch.group_threads);
    const std::size_t global = local * launch.groups;
    opencl(clEnqueueNDRangeKernel(queue_.queue, kernel, 1, nullptr, &global, &local, 0, nullptr, event),
           "clEnqueueNDRangeKernel");
  }

  OpenClQueue queue_;
  cl_mem arrays_[kArrays] = {};
  std::map<std::tuple<int, int, bool>, Built> built_;
  const cl_kernel* kernels_ = nullptr;
};

}  // namespace

std::unique_ptr<Technology> open_opencl(int device) {
  if (!OpenClQueue::exists(device)) return nullptr;
  return std::make_unique<OpenClPort>(device);
}

}  // namespace sfft::technologies
