// SPDX-License-Identifier: Apache-2.0
// Finds OpenCL's loader, and NVIDIA's driver if the loader does not know it.
#include "bench/technologies/opencl_api.hpp"

#include <algorithm>

#include "bench/technologies/dynamic_library.hpp"

namespace sfft::technologies {

namespace {

struct Device {
  cl_platform_id platform;
  cl_device_id device;
  bool gpu;
};

OpenClApi load() {
  const DynamicLibrary library({"libOpenCL.so.1"});
  OpenClApi api;
#define SFFT_FIND(name) library.require(api.name##_call, #name);
  SFFT_OPENCL_FUNCTIONS(SFFT_FIND)
#undef SFFT_FIND
  return api;
}

std::string text_of(cl_platform_id platform, cl_platform_info what) {
  char text[256] = {};
  if (clGetPlatformInfo(platform, what, sizeof text - 1, text, nullptr) != CL_SUCCESS) return {};
  return text;
}

std::string text_of(cl_device_id device, cl_device_info what) {
  char text[256] = {};
  if (clGetDeviceInfo(device, what, sizeof text - 1, text, nullptr) != CL_SUCCESS) return {};
  return text;
}

/// Calls the function that the driver exports to loaders, because containers often have the library without
/// the file that registers it.
std::vector<cl_platform_id> nvidia_platforms() {
  using Find = void* (*)(const char*);
  using Platforms = cl_int (*)(cl_uint, cl_platform_id*, cl_uint*);
  try {
    const DynamicLibrary driver({"libnvidia-opencl.so.1"});
    auto* find = reinterpret_cast<Find>(driver.find("clGetExtensionFunctionAddress"));
    auto platforms = reinterpret_cast<Platforms>(find == nullptr ? nullptr : find("clIcdGetPlatformIDsKHR"));
    cl_uint count = 0;
    if (platforms == nullptr || platforms(0, nullptr, &count) != CL_SUCCESS) return {};
    std::vector<cl_platform_id> found(count);
    if (count > 0 && platforms(count, found.data(), nullptr) != CL_SUCCESS) return {};
    return found;
  } catch (const Failure&) {
    return {};
  }
}

std::vector<Device> devices() {
  cl_uint count = 0;
  std::vector<cl_platform_id> platforms;
  if (clGetPlatformIDs(0, nullptr, &count) == CL_SUCCESS && count > 0) {
    platforms.resize(count);
    opencl(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  }
  const bool nvidia = std::any_of(platforms.begin(), platforms.end(), [](cl_platform_id platform) {
    return text_of(platform, CL_PLATFORM_NAME).find("NVIDIA") != std::string::npos;
  });
  if (!nvidia) {
    const auto more = nvidia_platforms();
    platforms.insert(platforms.begin(), more.begin(), more.end());
  }
  if (platforms.empty()) throw Failure("no OpenCL platform: the loader knows of no driver");
  std::vector<Device> found;
  for (cl_platform_id platform : platforms) {
    cl_uint devices_here = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices_here) != CL_SUCCESS) continue;
    std::vector<cl_device_id> ids(devices_here);
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices_here, ids.data(), nullptr) != CL_SUCCESS)
      continue;
    for (cl_device_id id : ids) {
      cl_device_type type = 0;
      clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
      found.push_back({platform, id, (type & CL_DEVICE_TYPE_GPU) != 0});
    }
  }
  if (found.empty()) throw Failure("OpenCL platforms are there, but none has a device");
  std::stable_partition(found.begin(), found.end(), [](const Device& each) { return each.gpu; });
  return found;
}

template <class T>
std::int64_t number_of(cl_device_id device, cl_device_info what) {
  T value = 0;
  clGetDeviceInfo(device, what, sizeof value, &value, nullptr);
  return static_cast<std::int64_t>(value);
}

}  // namespace

const OpenClApi& opencl_api() {
  static const OpenClApi api = load();
  return api;
}

void opencl(cl_int status, const char* call) {
  if (status == CL_SUCCESS) return;
  std::string reason = "error " + std::to_string(status);
  if (status == CL_MEM_OBJECT_ALLOCATION_FAILURE) reason = "out of device memory";
  if (status == CL_OUT_OF_RESOURCES) reason = "out of resources";
  if (status == CL_OUT_OF_HOST_MEMORY) reason = "out of host memory";
  if (status == CL_INVALID_BUFFER_SIZE) reason = "a buffer of this size is not allowed";
  throw Failure(std::string(call) + ": " + reason);
}

bool OpenClQueue::exists(int device) {
  return device < static_cast<int>(devices().size());
}

OpenClQueue::OpenClQueue(int number, Facts& facts) {
  const Device chosen = devices().at(static_cast<std::size_t>(number));
  platform = chosen.platform;
  device = chosen.device;
  facts.device = text_of(device, CL_DEVICE_NAME);
  facts.driver = text_of(platform, CL_PLATFORM_NAME) + ", " + text_of(device, CL_DRIVER_VERSION);
  facts.gpu = chosen.gpu;
  facts.limits.group_threads = number_of<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  facts.limits.shared_bytes = number_of<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  facts.limits.buffer_bytes = number_of<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  facts.limits.memory_bytes = number_of<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  cl_int status = CL_SUCCESS;
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  opencl(status, "clCreateContext");
  queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &status);
  opencl(status, "clCreateCommandQueue");
  facts.steps = {"clGetPlatformIDs", "clGetDeviceIDs", "clCreateContext", "clCreateCommandQueue"};
}

OpenClQueue::~OpenClQueue() {
  if (queue != nullptr) clReleaseCommandQueue(queue);
  if (context != nullptr) clReleaseContext(context);
}

cl_mem OpenClQueue::allocate(std::int64_t bytes) const {
  cl_int status = CL_SUCCESS;
  cl_mem memory =
      clCreateBuffer(context, CL_MEM_READ_WRITE, static_cast<std::size_t>(bytes), nullptr, &status);
  opencl(status, "clCreateBuffer");
  return memory;
}

void OpenClQueue::write(cl_mem to, const void* from, std::int64_t bytes) const {
  opencl(
      clEnqueueWriteBuffer(queue, to, CL_TRUE, 0, static_cast<std::size_t>(bytes), from, 0, nullptr, nullptr),
      "clEnqueueWriteBuffer");
}

void OpenClQueue::read(void* to, cl_mem from, std::int64_t bytes) const {
  opencl(
      clEnqueueReadBuffer(queue, from, CL_TRUE, 0, static_cast<std::size_t>(bytes), to, 0, nullptr, nullptr),
      "clEnqueueReadBuffer");
}

cl_program OpenClQueue::build(const std::string& source, const std::string& options) const {
  cl_int status = CL_SUCCESS;
  const char* text = source.c_str();
  cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &status);
  opencl(status, "clCreateProgramWithSource");
  status = clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr);
  if (status == CL_SUCCESS) return program;
  std::size_t size = 0;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, ' ');
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  clReleaseProgram(program);
  throw Failure("the driver does not compile the kernels: " + log);
}

double OpenClQueue::span_us(cl_event first, cl_event last) {
  cl_ulong start = 0, stop = 0;
  const cl_int failed =
      clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr) |
      clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof stop, &stop, nullptr);
  clReleaseEvent(first);
  if (last != first) clReleaseEvent(last);
  return failed != CL_SUCCESS || stop < start ? kNone : 1e-3 * static_cast<double>(stop - start);
}

}  // namespace sfft::technologies
