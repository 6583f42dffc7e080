// SPDX-License-Identifier: Apache-2.0
// Loads OpenCL's functions at run time. After this header, a call such as clFinish goes through the table.
// The build needs only OpenCL's header.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <string>
#include <vector>

#include "bench/technologies/technology.hpp"

#define SFFT_OPENCL_FUNCTIONS(X) \
  X(clGetPlatformIDs)            \
  X(clGetPlatformInfo)           \
  X(clGetDeviceIDs)              \
  X(clGetDeviceInfo)             \
  X(clCreateContext)             \
  X(clReleaseContext)            \
  X(clCreateCommandQueue)        \
  X(clReleaseCommandQueue)       \
  X(clCreateBuffer)              \
  X(clReleaseMemObject)          \
  X(clCreateProgramWithSource)   \
  X(clCreateProgramWithBinary)   \
  X(clBuildProgram)              \
  X(clGetProgramBuildInfo)       \
  X(clGetProgramInfo)            \
  X(clReleaseProgram)            \
  X(clCreateKernel)              \
  X(clReleaseKernel)             \
  X(clSetKernelArg)              \
  X(clGetKernelWorkGroupInfo)    \
  X(clEnqueueNDRangeKernel)      \
  X(clEnqueueWriteBuffer)        \
  X(clEnqueueReadBuffer)         \
  X(clEnqueueMarkerWithWaitList) \
  X(clFinish)                    \
  X(clFlush)                     \
  X(clGetEventProfilingInfo)     \
  X(clReleaseEvent)

namespace sfft::technologies {

struct OpenClApi {
#define SFFT_MEMBER(name) decltype(&::name) name##_call = nullptr;
  SFFT_OPENCL_FUNCTIONS(SFFT_MEMBER)
#undef SFFT_MEMBER
};

/// Throws Failure if there is no loader.
const OpenClApi& opencl_api();

}  // namespace sfft::technologies

#define clGetPlatformIDs (::sfft::technologies::opencl_api().clGetPlatformIDs_call)
#define clGetPlatformInfo (::sfft::technologies::opencl_api().clGetPlatformInfo_call)
#define clGetDeviceIDs (::sfft::technologies::opencl_api().clGetDeviceIDs_call)
#define clGetDeviceInfo (::sfft::technologies::opencl_api().clGetDeviceInfo_call)
#define clCreateContext (::sfft::technologies::opencl_api().clCreateContext_call)
#define clReleaseContext (::sfft::technologies::opencl_api().clReleaseContext_call)
#define clCreateCommandQueue (::sfft::technologies::opencl_api().clCreateCommandQueue_call)
#define clReleaseCommandQueue (::sfft::technologies::opencl_api().clReleaseCommandQueue_call)
#define clCreateBuffer (::sfft::technologies::opencl_api().clCreateBuffer_call)
#define clReleaseMemObject (::sfft::technologies::opencl_api().clReleaseMemObject_call)
#define clCreateProgramWithSource (::sfft::technologies::opencl_api().clCreateProgramWithSource_call)
#define clCreateProgramWithBinary (::sfft::technologies::opencl_api().clCreateProgramWithBinary_call)
#define clBuildProgram (::sfft::technologies::opencl_api().clBuildProgram_call)
#define clGetProgramBuildInfo (::sfft::technologies::opencl_api().clGetProgramBuildInfo_call)
#define clGetProgramInfo (::sfft::technologies::opencl_api().clGetProgramInfo_call)
#define clReleaseProgram (::sfft::technologies::opencl_api().clReleaseProgram_call)
#define clCreateKernel (::sfft::technologies::opencl_api().clCreateKernel_call)
#define clReleaseKernel (::sfft::technologies::opencl_api().clReleaseKernel_call)
#define clSetKernelArg (::sfft::technologies::opencl_api().clSetKernelArg_call)
#define clGetKernelWorkGroupInfo (::sfft::technologies::opencl_api().clGetKernelWorkGroupInfo_call)
#define clEnqueueNDRangeKernel (::sfft::technologies::opencl_api().clEnqueueNDRangeKernel_call)
#define clEnqueueWriteBuffer (::sfft::technologies::opencl_api().clEnqueueWriteBuffer_call)
#define clEnqueueReadBuffer (::sfft::technologies::opencl_api().clEnqueueReadBuffer_call)
#define clEnqueueMarkerWithWaitList (::sfft::technologies::opencl_api().clEnqueueMarkerWithWaitList_call)
#define clFinish (::sfft::technologies::opencl_api().clFinish_call)
#define clFlush (::sfft::technologies::opencl_api().clFlush_call)
#define clGetEventProfilingInfo (::sfft::technologies::opencl_api().clGetEventProfilingInfo_call)
#define clReleaseEvent (::sfft::technologies::opencl_api().clReleaseEvent_call)

namespace sfft::technologies {

void opencl(cl_int status, const char* call);

/// A device with its context and a queue that takes time stamps. Devices of all platforms are numbered
/// together, GPUs first.
class OpenClQueue {
 public:
  static bool exists(int device);
  OpenClQueue(int device, Facts& facts);
  ~OpenClQueue();
  OpenClQueue(const OpenClQueue&) = delete;
  OpenClQueue& operator=(const OpenClQueue&) = delete;

  /// Throws Failure if the device does not have enough memory.
  cl_mem allocate(std::int64_t bytes) const;
  void write(cl_mem to, const void* from, std::int64_t bytes) const;
  void read(void* to, cl_mem from, std::int64_t bytes) const;
  /// Throws Failure with the driver's log.
  cl_program build(const std::string& source, const std::string& options) const;
  /// Returns the time from the start of the first event to the end of the last, and releases both.
  static double span_us(cl_event first, cl_event last);

  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
};

}  // namespace sfft::technologies
