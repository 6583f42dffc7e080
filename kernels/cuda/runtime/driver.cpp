// SPDX-License-Identifier: Apache-2.0
// Finds the driver's functions through the CUDA runtime and NVRTC's through dlopen, once per process. If a
// compilation fails, the error quotes the start of NVRTC's log.
#include "kernels/cuda/runtime/driver.hpp"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "kernels/runtime/user_cache.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::cuda {

namespace {

/// Finds the version of the function that cuda.h declares, which may be older than the driver's newest.
void* driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &found, CUDA_VERSION, cudaEnableDefault, &result);
#else
  const cudaError_t status = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (status == cudaSuccess && result == cudaDriverEntryPointSuccess) return found;
  static_cast<void>(cudaGetLastError());
  return nullptr;
}

Driver load_driver() {
  Driver api;
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) {
    static_cast<void>(cudaGetLastError());
    api.why_missing = "there is no NVIDIA driver";
    return api;
  }
#define SFFT_LOAD(name)                                                    \
  api.name = reinterpret_cast<decltype(api.name)>(driver_function(#name)); \
  if (api.name == nullptr && api.why_missing.empty())                      \
    api.why_missing = "the NVIDIA driver has no function " #name ": install a newer one";
  SFFT_DRIVER_FUNCTIONS(SFFT_LOAD)
#undef SFFT_LOAD
  return api;
}

std::vector<std::string> nvrtc_files() {
  if (const char* named = std::getenv("SFFT_NVRTC"); named != nullptr && *named != '\0') return {named};
  std::vector<std::string> files;
  for (const char* folder : {"", SFFT_CUDA_LIBRARY_FOLDER "/"}) {
    for (const char* file : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
      files.push_back(std::string(folder) + file);
  }
  return files;
}

/// The library stays loaded until the process ends.
void* open_nvrtc(std::string& why_missing) {
  for (const std::string& file : nvrtc_files()) {
    if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); library != nullptr) return library;
    const char* reason = dlerror();
    if (why_missing.empty()) why_missing = reason != nullptr ? reason : file;
  }
  why_missing = fmt::format(
      "NVRTC, which compiles kernels at run time, cannot be loaded ({}): install the CUDA toolkit's "
      "libnvrtc, or "
      "name its file in the environment variable SFFT_NVRTC",
      why_missing);
  return nullptr;
}

Nvrtc load_nvrtc() {
  Nvrtc api;
  void* library = open_nvrtc(api.why_missing);
  if (library == nullptr) return api;
  api.why_missing.clear();
#define SFFT_LOAD(name)                                                   \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name)); \
  if (api.name == nullptr && api.why_missing.empty())                     \
    api.why_missing = "libnvrtc has no function " #name ": install that of CUDA 12 or 13";
  SFFT_NVRTC_FUNCTIONS(SFFT_LOAD)
#undef SFFT_LOAD
  return api;
}

/// The first `lines` lines at most.
std::string beginning(std::string_view log, int lines) {
  std::size_t end = 0;
  while (lines-- > 0 && end < log.size()) {
    const std::size_t next = log.find('\n', end);
    end = next == std::string_view::npos ? log.size() : next + 1;
  }
  while (end > 0 && (log[end - 1] == '\n' || log[end - 1] == '\0')) --end;
  return std::string(log.substr(0, end));
}

/// An NVRTC program during compilation.
class Program {
 public:
  Program(const Nvrtc& api, const std::string& source, std::span<const SourceHeader> headers) : api_(api) {
    std::vector<const char*> names, texts;
    for (const SourceHeader& header : headers) {
      names.push_back(header.name.c_str());
      texts.push_back(header.text.c_str());
    }
    check(api_.nvrtcCreateProgram(&program_, source.c_str(), "sfft.cu", static_cast<int>(headers.size()),
                                  texts.data(), names.data()),
          "taking a kernel's source");
  }
  ~Program() { static_cast<void>(api_.nvrtcDestroyProgram(&program_)); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  std::vector<char> cubin(std::span<const std::string> options, const std::string& architecture) {
    const std::string target = "--gpu-architecture=" + architecture;
    std::vector<const char*> all{target.c_str()};
    for (const std::string& option : options) all.push_back(option.c_str());
    check(api_.nvrtcCompileProgram(program_, static_cast<int>(all.size()), all.data()),
          ("compiling a kernel for " + architecture).c_str());
    std::size_t bytes = 0;
    check(api_.nvrtcGetCUBINSize(program_, &bytes), "asking for a kernel's size");
    if (bytes == 0) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("{} is a virtual architecture: name one that has code, as sm_90", architecture));
    }
    std::vector<char> image(bytes);
    check(api_.nvrtcGetCUBIN(program_, image.data()), "fetching a kernel");
    return image;
  }

  std::string ptx() {
    check(api_.nvrtcCompileProgram(program_, 0, nullptr), "compiling a kernel");
    std::size_t bytes = 0;  // with a zero at the end
    check(api_.nvrtcGetPTXSize(program_, &bytes), "asking for a kernel's size");
    std::string text(bytes, '\0');
    check(api_.nvrtcGetPTX(program_, text.data()), "fetching a kernel");
    text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
    return text;
  }

 private:
  void check(nvrtcResult status, const char* what) const {
    if (status == NVRTC_SUCCESS) return;
    constexpr int kLines = 12;
    std::size_t bytes = 0;
    std::string log;
    if (program_ != nullptr && api_.nvrtcGetProgramLogSize(program_, &bytes) == NVRTC_SUCCESS && bytes > 0) {
      log.resize(bytes);
      if (api_.nvrtcGetProgramLog(program_, log.data()) != NVRTC_SUCCESS) log.clear();
    }
    throw Error(ErrorCode::backend_unavailable,
                fmt::format("{}: NVRTC failed with {}\n{}", what, api_.nvrtcGetErrorString(status),
                            beginning(log, kLines)));
  }

  const Nvrtc& api_;
  nvrtcProgram program_ = nullptr;
};

}  // namespace

const Driver& find_driver() noexcept {
  static const Driver api = load_driver();
  return api;
}

const Nvrtc& find_nvrtc() noexcept {
  static const Nvrtc api = load_nvrtc();
  return api;
}

const Driver& driver() {
  const Driver& api = find_driver();
  if (!api.why_missing.empty()) throw Error(ErrorCode::backend_unavailable, api.why_missing);
  return api;
}

const Nvrtc& nvrtc() {
  const Nvrtc& api = find_nvrtc();
  if (!api.why_missing.empty()) throw Error(ErrorCode::backend_unavailable, api.why_missing);
  return api;
}

void check_driver(CUresult status, const char* what) {
  if (status == CUDA_SUCCESS) return;
  if (status == CUDA_ERROR_OUT_OF_MEMORY)
    throw Error(ErrorCode::out_of_memory, fmt::format("{}: the GPU is out of memory", what));
  const char* text = nullptr;
  if (find_driver().cuGetErrorString != nullptr) find_driver().cuGetErrorString(status, &text);
  throw Error(ErrorCode::device, fmt::format("{}: {} (CUDA driver error {})", what,
                                             text != nullptr ? text : "unknown", static_cast<int>(status)));
}

std::vector<char> compile(const std::string& source, std::span<const SourceHeader> headers,
                          std::span<const std::string> options, const std::string& architecture) {
  return Program(nvrtc(), source, headers).cubin(options, architecture);
}

std::vector<char> compile_by_driver(const std::string& source) {
  const std::string ptx = Program(nvrtc(), source, {}).ptx();
  const Driver& api = driver();
  CUlinkState state = nullptr;
  check_driver(api.cuLinkCreate(0, nullptr, nullptr, &state), "preparing to compile PTX");
  std::vector<char> image;
  void* code = nullptr;
  std::size_t bytes = 0;
  CUresult status = api.cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(ptx.c_str()), ptx.size() + 1,
                                      "sfft.ptx", 0, nullptr, nullptr);
  if (status == CUDA_SUCCESS) status = api.cuLinkComplete(state, &code, &bytes);
  if (status == CUDA_SUCCESS)
    image.assign(static_cast<const char*>(code), static_cast<const char*>(code) + bytes);
  static_cast<void>(api.cuLinkDestroy(state));
  check_driver(status, "compiling PTX");
  return image;
}

std::vector<char> cached_image(const std::string& key, const std::function<std::vector<char>()>& make) {
  constexpr const char* kKind = "kernels";
  const std::shared_ptr<const UserCache> cache = UserCache::global();
  const std::string full_key = nvrtc_version() + '\n' + key;
  if (const auto image = cache->find(kKind, full_key)) return {image->begin(), image->end()};
  std::vector<char> image = make();
  cache->store(kKind, full_key, {image.data(), image.size()});
  return image;
}

const std::string& nvrtc_version() {
  static const std::string version = [] {
    int major = 0, minor = 0;
    static_cast<void>(nvrtc().nvrtcVersion(&major, &minor));
    return fmt::format("NVRTC {}.{}", major, minor);
  }();
  return version;
}

Module::Module(const void* image) {
  check_driver(driver().cuCtxGetCurrent(&context_), "finding a GPU's context");
  check_driver(driver().cuModuleLoadData(&module_, image), "loading a compiled kernel");
}

Module::~Module() {
  const Driver& api = find_driver();
  if (api.cuCtxPushCurrent(context_) != CUDA_SUCCESS) return;  // the process is ending
  static_cast<void>(api.cuModuleUnload(module_));
  CUcontext popped = nullptr;
  static_cast<void>(api.cuCtxPopCurrent(&popped));
}

CUfunction Module::function(const char* name) const {
  CUfunction found = nullptr;
  check_driver(driver().cuModuleGetFunction(&found, module_, name), name);
  return found;
}

}  // namespace sfft::detail::cuda
