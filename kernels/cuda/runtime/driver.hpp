// SPDX-License-Identifier: Apache-2.0
// The CUDA driver's functions and NVRTC, found when they are first needed: the library links neither and
// loads on machines without them.
#pragma once

#include <cuda.h>
#include <nvrtc.h>

#include <span>
#include <string>
#include <vector>

namespace sfft::detail::cuda {

// Expansion turns some of the names into what cuda.h makes of them (cuModuleGetGlobal_v2), in the members
// below and where they are used.
#define SFFT_DRIVER_FUNCTIONS(X)                 \
  X(cuCtxGetCurrent)                             \
  X(cuCtxPopCurrent)                             \
  X(cuCtxPushCurrent)                            \
  X(cuDeviceGet)                                 \
  X(cuDeviceGetAttribute)                        \
  X(cuFuncGetAttribute)                          \
  X(cuFuncSetAttribute)                          \
  X(cuGetErrorName)                              \
  X(cuGetErrorString)                            \
  X(cuLaunchKernel)                              \
  X(cuLaunchKernelEx)                            \
  X(cuMemcpyDtoH)                                \
  X(cuMemcpyHtoD)                                \
  X(cuMemcpyHtoDAsync)                           \
  X(cuModuleGetFunction)                         \
  X(cuModuleGetGlobal)                           \
  X(cuModuleLoadData)                            \
  X(cuModuleLoadDataEx)                          \
  X(cuModuleUnload)                              \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
  X(cuOccupancyMaxActiveClusters)

#define SFFT_NVRTC_FUNCTIONS(X) \
  X(nvrtcAddNameExpression)     \
  X(nvrtcCompileProgram)        \
  X(nvrtcCreateProgram)         \
  X(nvrtcDestroyProgram)        \
  X(nvrtcGetCUBIN)              \
  X(nvrtcGetCUBINSize)          \
  X(nvrtcGetErrorString)        \
  X(nvrtcGetLoweredName)        \
  X(nvrtcGetPTX)                \
  X(nvrtcGetPTXSize)            \
  X(nvrtcGetProgramLog)         \
  X(nvrtcGetProgramLogSize)     \
  X(nvrtcVersion)

#define SFFT_MEMBER(name) decltype(&::name) name = nullptr;
/// All of them, or a reason why not.
struct Driver {
  SFFT_DRIVER_FUNCTIONS(SFFT_MEMBER)
  std::string why_missing;
};
struct Nvrtc {
  SFFT_NVRTC_FUNCTIONS(SFFT_MEMBER)
  std::string why_missing;
};
#undef SFFT_MEMBER

/// What the process found at its first call. Modules need a current context: hold a DeviceScope and, in a
/// thread that has not used the runtime yet, call cudaFree(nullptr) first.
const Driver& find_driver() noexcept;
/// The file that the environment variable SFFT_NVRTC names and nothing else; without it libnvrtc as the
/// loader finds it, then the one of the toolkit that the library was built with.
const Nvrtc& find_nvrtc() noexcept;
/// The same; throw Error(backend_unavailable) with the reason when it is missing.
const Driver& driver();
const Nvrtc& nvrtc();

/// Throws Error(device or out_of_memory) unless `status` is success; `what` was being done.
void check_driver(CUresult status, const char* what);

/// What `#include "name"` finds while compiling.
struct SourceHeader {
  std::string name, text;
};
/// A cubin of CUDA C++ for `architecture` ("sm_90"). Throws Error(backend_unavailable) where NVRTC is
/// missing, or with the first lines of its log when it refuses.
std::vector<char> compile(const std::string& source, std::span<const SourceHeader> headers,
                          std::span<const std::string> options, const std::string& architecture);

/// Code in the context that is current, and unloaded from that context with its owner.
class Module {
 public:
  /// `image`: a cubin, or PTX that ends with a zero.
  explicit Module(const void* image);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  /// Of an extern "C" kernel.
  CUfunction function(const char* name) const;

 private:
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
};

}  // namespace sfft::detail::cuda
