// SPDX-License-Identifier: Apache-2.0
// The CUDA driver's functions and NVRTC, looked up on first use: the library links neither and loads on
// machines without them.
#pragma once

#include <cuda.h>
#include <nvrtc.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sfft::detail::cuda {

// cuda.h defines some of these names as macros (cuModuleGetGlobal_v2). They expand identically in the members
// below and at their uses.
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
  X(cuLinkAddData)                               \
  X(cuLinkComplete)                              \
  X(cuLinkCreate)                                \
  X(cuLinkDestroy)                               \
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
  X(nvrtcCompileProgram)        \
  X(nvrtcCreateProgram)         \
  X(nvrtcDestroyProgram)        \
  X(nvrtcGetCUBIN)              \
  X(nvrtcGetCUBINSize)          \
  X(nvrtcGetErrorString)        \
  X(nvrtcGetPTX)                \
  X(nvrtcGetPTXSize)            \
  X(nvrtcGetProgramLog)         \
  X(nvrtcGetProgramLogSize)     \
  X(nvrtcVersion)

#define SFFT_MEMBER(name) decltype(&::name) name = nullptr;
/// All functions, or the reason why they are missing.
struct Driver {
  SFFT_DRIVER_FUNCTIONS(SFFT_MEMBER)
  std::string why_missing;
};
struct Nvrtc {
  SFFT_NVRTC_FUNCTIONS(SFFT_MEMBER)
  std::string why_missing;
};
#undef SFFT_MEMBER

/// What the first call in the process found. Modules need a current context: create a DeviceScope and, in a
/// thread that has not used the runtime yet, call cudaFree(nullptr) first.
const Driver& find_driver() noexcept;
/// If the environment variable SFFT_NVRTC names a file, tries only that file. Otherwise tries libnvrtc as the
/// loader finds it, then the one from the toolkit that the library was built with.
const Nvrtc& find_nvrtc() noexcept;
/// As above, but these throw Error(backend_unavailable) with the reason if the library is missing.
const Driver& driver();
const Nvrtc& nvrtc();

/// Throws Error(device or out_of_memory) unless `status` is success; `what` names the operation.
void check_driver(CUresult status, const char* what);

/// A file that `#include "name"` finds while compiling.
struct SourceHeader {
  std::string name, text;
};
/// Compiles CUDA C++ to a cubin for `architecture` ("sm_90"). Throws Error(backend_unavailable) if NVRTC is
/// missing or rejects the source; the message then quotes the first lines of its log.
std::vector<char> compile(const std::string& source, std::span<const SourceHeader> headers,
                          std::span<const std::string> options, const std::string& architecture);
/// The same by way of PTX for NVRTC's default architecture, which the driver compiles for the current GPU.
/// Some sources become faster code this way.
std::vector<char> compile_by_driver(const std::string& source);
/// The machine code that this user's processes stored for the same compiler and key (UserCache), otherwise
/// what `make` returns, which is then stored.
std::vector<char> cached_image(const std::string& key, const std::function<std::vector<char>()>& make);
/// "NVRTC 13.0". Throws Error(backend_unavailable) if it is missing.
const std::string& nvrtc_version();

/// Code loaded into the current context; unloaded with its owner.
class Module {
 public:
  /// `image`: a cubin, or PTX that ends with a zero.
  explicit Module(const void* image);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  /// Finds an extern "C" kernel.
  CUfunction function(const char* name) const;

 private:
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
};

}  // namespace sfft::detail::cuda
