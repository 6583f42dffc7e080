// SPDX-License-Identifier: Apache-2.0
// HIP: HIPRTC compiles the unchanged CUDA kernels at run time. The few functions that this needs are declared
// here, so that the build needs nothing of ROCm.
#include <map>

#include "bench/technologies/clock.hpp"
#include "bench/technologies/dynamic_library.hpp"
#include "bench/technologies/kernel_sources.hpp"
#include "bench/technologies/technology.hpp"

namespace sfft::technologies {

namespace {

constexpr int kToDevice = 1, kToHost = 2;

struct HipApi {
  HipApi() : library({"libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"}) {
    library.require(device_count, "hipGetDeviceCount");
    library.require(set_device, "hipSetDevice");
    library.require(device_name, "hipDeviceGetName");
    library.require(driver_version, "hipDriverGetVersion");
    library.require(total_memory, "hipDeviceTotalMem");
    library.require(allocate, "hipMalloc");
    library.require(release, "hipFree");
    library.require(copy, "hipMemcpy");
    library.require(create_stream, "hipStreamCreate");
    library.require(synchronize, "hipStreamSynchronize");
    library.require(create_event, "hipEventCreate");
    library.require(record, "hipEventRecord");
    library.require(elapsed, "hipEventElapsedTime");
    library.require(load, "hipModuleLoadData");
    library.require(unload, "hipModuleUnload");
    library.require(function, "hipModuleGetFunction");
    library.require(launch, "hipModuleLaunchKernel");
    library.require(error_text, "hipGetErrorString");
  }
  void check(int status, const char* call) const {
    if (status != 0) throw Failure(std::string(call) + ": " + error_text(status));
  }
  DynamicLibrary library;
  int (*device_count)(int*) = nullptr;
  int (*set_device)(int) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*driver_version)(int*) = nullptr;
  int (*total_memory)(std::size_t*, int) = nullptr;
  int (*allocate)(void**, std::size_t) = nullptr;
  int (*release)(void*) = nullptr;
  int (*copy)(void*, const void*, std::size_t, int) = nullptr;
  int (*create_stream)(void**) = nullptr;
  int (*synchronize)(void*) = nullptr;
  int (*create_event)(void**) = nullptr;
  int (*record)(void*, void*) = nullptr;
  int (*elapsed)(float*, void*, void*) = nullptr;
  int (*load)(void**, const void*) = nullptr;
  int (*unload)(void*) = nullptr;
  int (*function)(void**, void*, const char*) = nullptr;
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                void**) = nullptr;
  const char* (*error_text)(int) = nullptr;
};

const HipApi& hip() {
  static const HipApi api;
  return api;
}

/// The run-time compiler, which is a separate library since ROCm 5.3.
struct HipRtc {
  HipRtc() : library({"libhiprtc.so.6", "libhiprtc.so.5", "libamdhip64.so.5"}) {
    library.require(create, "hiprtcCreateProgram");
    library.require(name, "hiprtcAddNameExpression");
    library.require(compile, "hiprtcCompileProgram");
    library.require(log_size, "hiprtcGetProgramLogSize");
    library.require(log, "hiprtcGetProgramLog");
    library.require(lowered, "hiprtcGetLoweredName");
    library.require(code_size, "hiprtcGetCodeSize");
    library.require(code, "hiprtcGetCode");
    library.require(destroy, "hiprtcDestroyProgram");
  }
  DynamicLibrary library;
  int (*create)(void**, const char*, const char*, int, const char**, const char**) = nullptr;
  int (*name)(void*, const char*) = nullptr;
  int (*compile)(void*, int, const char**) = nullptr;
  int (*log_size)(void*, std::size_t*) = nullptr;
  int (*log)(void*, char*) = nullptr;
  int (*lowered)(void*, const char*, const char**) = nullptr;
  int (*code_size)(void*, std::size_t*) = nullptr;
  int (*code)(void*, char*) = nullptr;
  int (*destroy)(void**) = nullptr;
};

struct HipCode {
  std::string code;
  std::string names[kKernels];  ///< the kernels' names in the module
};

HipCode compile(int tile, const std::vector<const char*>& options) {
  static const HipRtc rtc;
  const std::string math = kernel_text("fft_math.h"), parameters = kernel_text("parameters.hpp");
  const char* headers[] = {math.c_str(), parameters.c_str(),
                           "#pragma once\nnamespace std { using uint32_t = unsigned; }\n"};
  const char* header_names[] = {"bench/technologies/kernels/fft_math.h",
                                "bench/technologies/kernels/parameters.hpp", "cstdint"};
  void* program = nullptr;
  if (rtc.create(&program, kernel_text("kernels.cuh").c_str(), "kernels.hip", 3, headers, header_names) != 0)
    throw Failure("hiprtcCreateProgram failed");
  const std::string names[kKernels] = {"sfft::technologies::fft_stage", "sfft::technologies::fft_parts",
                                       "sfft::technologies::fft_transpose<" + std::to_string(tile) + ">"};
  for (const std::string& name : names) rtc.name(program, name.c_str());
  const int status =
      rtc.compile(program, static_cast<int>(options.size()), const_cast<const char**>(options.data()));
  if (status != 0) {
    std::size_t size = 0;
    rtc.log_size(program, &size);
    std::string log(size, ' ');
    if (size > 0) rtc.log(program, log.data());
    rtc.destroy(&program);
    throw Failure("HIPRTC does not compile the kernels: " + log);
  }
  HipCode made;
  for (int i = 0; i < kKernels; ++i) {
    const char* lowered = nullptr;
    if (rtc.lowered(program, names[i].c_str(), &lowered) == 0 && lowered != nullptr) made.names[i] = lowered;
  }
  std::size_t size = 0;
  rtc.code_size(program, &size);
  made.code.resize(size);
  rtc.code(program, made.code.data());
  rtc.destroy(&program);
  return made;
}

class HipPort final : public Port {
 public:
  explicit HipPort(int device) {
    hip().check(hip().set_device(device), "hipSetDevice");
    char name[256] = {};
    hip().device_name(name, sizeof name - 1, device);
    int version = 0;
    hip().driver_version(&version);
    std::size_t memory = 0;
    hip().total_memory(&memory, device);
    facts_.device = name;
    facts_.driver = "HIP " + std::to_string(version);
    facts_.gpu = true;
    facts_.limits = {1024, 65536, 0, static_cast<std::int64_t>(memory), 0x7fffffff};  // any AMD GPU's
    hip().check(hip().create_stream(&stream_), "hipStreamCreate");
    for (void*& event : events_) hip().check(hip().create_event(&event), "hipEventCreate");
    for (const char* call :
         {"hipSetDevice", "hipStreamCreate", "hiprtcCreateProgram", "hiprtcCompileProgram",
          "hipModuleLoadData", "hipModuleGetFunction", "hipMalloc", "hipMemcpy", "hipModuleLaunchKernel"}) {
      step(call);
    }
  }
  ~HipPort() override {
    for (void* array : arrays_) hip().release(array);
    for (const auto& [tile, built] : built_) hip().unload(built.module);
  }
  void upload(const Complex* signal) override {
    hip().check(hip().copy(array(Array::input), signal, static_cast<std::size_t>(bytes()), kToDevice),
                "hipMemcpy");
  }
  void download(Complex* spectrum) override {
    hip().check(hip().copy(spectrum, array(Array::result), static_cast<std::size_t>(bytes()), kToHost),
                "hipMemcpy");
  }
  Sample run() override {
    const Stopwatch watch;
    hip().check(hip().record(events_[0], stream_), "hipEventRecord");
    for (const Launch& launch : schedule_) enqueue(launch);
    hip().check(hip().record(events_[1], stream_), "hipEventRecord");
    Sample sample;
    sample.submit_us = watch.us();
    hip().check(hip().synchronize(stream_), "hipStreamSynchronize");
    sample.wall_us = watch.us();
    float milliseconds = 0;
    hip().check(hip().elapsed(&milliseconds, events_[0], events_[1]), "hipEventElapsedTime");
    sample.device_us = 1e3 * static_cast<double>(milliseconds);
    return sample;
  }

 private:
  struct Built {
    void* module = nullptr;
    void* functions[kKernels] = {};
  };
  void* array(Array array) const { return arrays_[static_cast<int>(array)]; }

  void build(const Setting& setting) override {
    if (setting.built_in_sincos) throw Failure("compiled with the shared twiddle factors alone");
    auto found = built_.find(setting.tile);
    if (found == built_.end()) {
      const HipCode made = compile(setting.tile, {});
      keep_code("hip_" + std::to_string(setting.tile) + ".co", made.code.data(), made.code.size());
      Built built;
      hip().check(hip().load(&built.module, made.code.data()), "hipModuleLoadData");
      for (int i = 0; i < kKernels; ++i)
        hip().check(hip().function(&built.functions[i], built.module, made.names[i].c_str()),
                    "hipModuleGetFunction");
      found = built_.emplace(setting.tile, built).first;
    }
    functions_ = found->second.functions;
  }
  void allocate(std::int64_t bytes) override {
    for (void*& array : arrays_) {
      hip().release(array);
      array = nullptr;
    }
    for (void*& array : arrays_)
      hip().check(hip().allocate(&array, static_cast<std::size_t>(bytes)), "hipMalloc");
  }
  void enqueue(const Launch& launch) {
    void* source = array(launch.source);
    void* target = array(launch.target);
    Parameters parameters = launch.parameters;
    void* arguments[] = {&source, &target, &parameters};
    const auto threads = static_cast<unsigned>(launch.group_threads);
    const unsigned shared =
        launch.kernel == Kernel::parts ? static_cast<unsigned>(launch.shared_bytes(setting_)) : 0;
    hip().check(hip().launch(functions_[static_cast<int>(launch.kernel)], launch.groups, 1, 1, threads, 1, 1,
                             shared, stream_, arguments, nullptr),
                "hipModuleLaunchKernel");
  }

  void* stream_ = nullptr;
  void* events_[2] = {};
  void* arrays_[kArrays] = {};
  std::map<int, Built> built_;
  void* const* functions_ = nullptr;
};

}  // namespace

std::unique_ptr<Technology> open_hip(int device) {
  int count = 0;
  hip().check(hip().device_count(&count), "hipGetDeviceCount");
  if (count == 0) throw Failure("no HIP device");
  if (device >= count) return nullptr;
  return std::make_unique<HipPort>(device);
}

std::string compile_hip_for(const std::string& architecture, int tile) {
  const std::string option = "--offload-arch=" + architecture;
  return compile(tile, {option.c_str()}).code;
}

}  // namespace sfft::technologies
