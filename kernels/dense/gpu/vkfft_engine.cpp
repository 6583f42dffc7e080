// SPDX-License-Identifier: Apache-2.0
// VkFFT (Tolmachev, IEEE Access 11, 2023) as a dense engine. Its header calls libcuda and libnvrtc. Those
// calls are redirected to the functions of kernels/cuda/runtime/driver.hpp, so that the library links
// neither. The machine code of its kernels is kept in the user's cache.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <clocale>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/runtime/driver.hpp"
#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/dense/gpu/grid.hpp"
#include "kernels/dense/problem/gpu_engine.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::vkfft_calls {

// cuda.h maps some names to versioned functions by macros; these are the plain names.
#define SFFT_CALL(name)              \
  inline auto find_##name() {        \
    return cuda::find_driver().name; \
  }
SFFT_DRIVER_FUNCTIONS(SFFT_CALL)
#undef SFFT_CALL

/// Stands for an nvrtcProgram.
struct Program {
  std::string source;
  std::vector<char> image;
};
inline Program& program_of(nvrtcProgram program) {
  return *reinterpret_cast<Program*>(program);
}
inline nvrtcResult create(nvrtcProgram* program, const char* source, const char*, int, const char* const*,
                          const char* const*) {
  *program = reinterpret_cast<nvrtcProgram>(new (std::nothrow) Program{source, {}});
  return *program == nullptr ? NVRTC_ERROR_OUT_OF_MEMORY : NVRTC_SUCCESS;
}
inline nvrtcResult compile(nvrtcProgram program, int, const char* const*) {
  try {
    int device = 0;
    cuda::check(cudaGetDevice(&device), "finding the GPU for VkFFT");
    const cuda::DeviceInfo& info = cuda::device_info(device);
    const std::string& source = program_of(program).source;
    program_of(program).image = cuda::cached_image(
        fmt::format("driver {}, sm_{}{}\n{}", cuda::driver_version(), info.major, info.minor, source),
        [&] { return cuda::compile_by_driver(source); });
    return NVRTC_SUCCESS;
  } catch (const std::exception&) {
    return NVRTC_ERROR_COMPILATION;
  }
}
inline nvrtcResult image_bytes(nvrtcProgram program, std::size_t* bytes) {
  *bytes = program_of(program).image.size();
  return NVRTC_SUCCESS;
}
inline nvrtcResult image(nvrtcProgram program, char* to) {
  const std::vector<char>& from = program_of(program).image;
  std::copy(from.begin(), from.end(), to);
  return NVRTC_SUCCESS;
}
inline nvrtcResult destroy(nvrtcProgram* program) {
  delete &program_of(*program);
  *program = nullptr;
  return NVRTC_SUCCESS;
}
inline nvrtcResult no_log(nvrtcProgram, char* log) {
  *log = '\0';
  return NVRTC_SUCCESS;
}

/// VkFFT prints its errors, but here its return codes report them.
inline int print(const char*, ...) {
  return 0;
}

}  // namespace sfft::detail::vkfft_calls

#undef cuMemcpyHtoD
#undef cuModuleGetGlobal
#define cuDeviceGetAttribute(...) sfft::detail::vkfft_calls::find_cuDeviceGetAttribute()(__VA_ARGS__)
#define cuFuncSetAttribute(...) sfft::detail::vkfft_calls::find_cuFuncSetAttribute()(__VA_ARGS__)
#define cuLaunchKernel(...) sfft::detail::vkfft_calls::find_cuLaunchKernel()(__VA_ARGS__)
#define cuMemcpyHtoD(...) sfft::detail::vkfft_calls::find_cuMemcpyHtoD()(__VA_ARGS__)
#define cuModuleGetFunction(...) sfft::detail::vkfft_calls::find_cuModuleGetFunction()(__VA_ARGS__)
#define cuModuleGetGlobal(...) sfft::detail::vkfft_calls::find_cuModuleGetGlobal()(__VA_ARGS__)
#define cuModuleLoadDataEx(...) sfft::detail::vkfft_calls::find_cuModuleLoadDataEx()(__VA_ARGS__)
#define cuModuleUnload(...) sfft::detail::vkfft_calls::find_cuModuleUnload()(__VA_ARGS__)
#define nvrtcCreateProgram sfft::detail::vkfft_calls::create
#define nvrtcCompileProgram sfft::detail::vkfft_calls::compile
#define nvrtcGetPTXSize sfft::detail::vkfft_calls::image_bytes
#define nvrtcGetPTX sfft::detail::vkfft_calls::image
#define nvrtcGetProgramLog sfft::detail::vkfft_calls::no_log
#define nvrtcDestroyProgram sfft::detail::vkfft_calls::destroy
#define nvrtcGetErrorString(result) "NVRTC failed"
#define printf sfft::detail::vkfft_calls::print
#define VKFFT_BACKEND 1
#include <vkFFT.h>
#undef printf

namespace sfft::detail {

namespace {

/// VkFFT sets the locale of the process while it writes its kernels.
std::mutex& planning_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// The transforms of one VkFFT application. Inverse real transforms work in place, because VkFFT's long lines
/// are wrong otherwise.
enum class Directions { both, forward, inverse };

/// A VkFFT application. Buffers and stream are part of its state, so concurrent calls run one after another.
class Application {
 public:
  Application(const DenseProblem& problem, bool double_precision, Directions directions);
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  std::size_t temporary_bytes() const noexcept { return temporary_bytes_; }
  /// The arrays are contiguous. For inverse real transforms both are the same, and real rows are padded to
  /// those of the spectrum; complex arrays may be the same.
  void run(bool inverse, void* from, void* to, std::byte* temporary, cuda::Stream stream);

 private:
  bool splits_launches() const noexcept;
  void release_temporary();

  std::mutex mutex_;
  CUdevice device_ = 0;
  cudaStream_t stream_ = nullptr;
  void *from_ = nullptr, *to_ = nullptr;
  std::uint64_t bytes_ = 0, input_bytes_ = 0;
  std::size_t temporary_bytes_ = 0;
  int ordinal_ = 0;
  VkFFTApplication application_ = {};
};

/// Sets the extents, fastest first, without extents of 1.
std::uint64_t set_sizes(const DenseProblem& problem, VkFFTConfiguration& configuration) {
  std::uint64_t rank = 0;
  for (int d = problem.shape.rank() - 1; d >= 0; --d) {
    if (problem.shape[d] > 1) configuration.size[rank++] = static_cast<std::uint64_t>(problem.shape[d]);
  }
  if (rank == 0 || (problem.real && problem.row_points() == 1))
    throw Error(ErrorCode::backend_unavailable,
                fmt::format("VkFFT has no {} transform of {}: use cufft", problem.real ? "real" : "complex",
                            problem.shape.to_string()));
  return rank;
}

Application::Application(const DenseProblem& problem, bool double_precision, Directions directions)
    : ordinal_(problem.device) {
  cuda::check_driver(cuda::driver().cuDeviceGet(&device_, problem.device), "finding a GPU for VkFFT");
  static_cast<void>(cuda::nvrtc());
  cuda::check(cudaFree(nullptr), "preparing a GPU for VkFFT");  // makes its context current
  VkFFTConfiguration configuration = {};
  configuration.FFTdim = set_sizes(problem, configuration);
  configuration.numberBatches = static_cast<std::uint64_t>(problem.batch);
  configuration.performR2C = problem.real;
  configuration.doublePrecision = double_precision;
  configuration.device = &device_;
  configuration.stream = &stream_;
  configuration.num_streams = 1;
  bytes_ = static_cast<std::uint64_t>(total_spectrum_points(problem)) * (double_precision ? 16 : 8);
  configuration.buffer = &to_;
  configuration.bufferSize = &bytes_;
  configuration.makeForwardPlanOnly = directions == Directions::forward;
  configuration.makeInversePlanOnly = directions == Directions::inverse;
  if (!problem.real || directions != Directions::inverse) {
    input_bytes_ = bytes_;
    configuration.isInputFormatted = 1;
    configuration.inputBuffer = &from_;
    configuration.inputBufferSize = &input_bytes_;
    if (problem.real) {
      // The strides of the other dimensions and of the batch follow from this one.
      configuration.inputBufferStride[0] = static_cast<std::uint64_t>(problem.row_points());
      input_bytes_ = static_cast<std::uint64_t>(total_points(problem)) * (double_precision ? 8 : 4);
    }
  }
  VkFFTResult result = VKFFT_SUCCESS;
  {
    const std::lock_guard lock(planning_mutex());
    result = initializeVkFFT(&application_, configuration);  // cleans up after itself when it fails
  }
  static_cast<void>(cudaGetLastError());
  if (result == VKFFT_ERROR_FAILED_TO_ALLOCATE)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("VkFFT found no memory of the GPU to plan {} transforms of {}: about {} bytes",
                            problem.batch, problem.shape.to_string(), bytes_));
  if (result != VKFFT_SUCCESS)
    throw Error(ErrorCode::backend_unavailable,
                fmt::format("VkFFT cannot plan {} transforms of {} (its result is {}): use cufft",
                            problem.batch, problem.shape.to_string(), static_cast<int>(result)));
  release_temporary();
  if (splits_launches()) {
    deleteVkFFT(&application_);
    throw Error(
        ErrorCode::backend_unavailable,
        fmt::format("VkFFT would split its launches for {} transforms of {} and wait between them: use "
                    "cufft, or a smaller batch",
                    problem.batch, problem.shape.to_string()));
  }
}

Application::~Application() {
  try {
    const cuda::DeviceScope scope(ordinal_);
    if (application_.configuration.tempBuffer != nullptr) application_.configuration.tempBuffer[0] = nullptr;
    deleteVkFFT(&application_);
  } catch (...) {  // the GPU is gone, and its memory with it
  }
}

/// VkFFT allocates scratch that executions would share; here each execution brings its own.
void Application::release_temporary() {
  if (application_.configuration.allocateTempBuffer == 0) return;
  temporary_bytes_ = cuda::aligned(application_.configuration.tempBufferSize[0]);
  static_cast<void>(cudaFree(application_.configuration.tempBuffer[0]));
  application_.configuration.tempBuffer[0] = nullptr;
}

/// Whether a grid exceeds the GPU's limits. VkFFT then copies the position of every part to the
/// GPU and waits.
bool Application::splits_launches() const noexcept {
  for (const VkFFTPlan* plan : {application_.localFFTPlan, application_.localFFTPlan_inverse}) {
    if (plan == nullptr) continue;
    for (std::uint64_t d = 0; d < application_.configuration.FFTdim; ++d) {
      for (std::uint64_t i = 0; i < plan->numAxisUploads[d]; ++i) {
        if (plan->axes[d][i].pushConstants.structSize > 0) return true;
      }
    }
    if (plan->multiUploadR2C && plan->R2Cdecomposition.pushConstants.structSize > 0) return true;
  }
  return false;
}

void Application::run(bool inverse, void* from, void* to, std::byte* temporary, cuda::Stream stream) {
  const std::lock_guard lock(mutex_);
  from_ = from;
  to_ = to;
  stream_ = stream;
  if (temporary_bytes_ > 0) application_.configuration.tempBuffer[0] = temporary;
  VkFFTLaunchParams parameters = {};
  parameters.buffer = &to_;
  if (application_.configuration.isInputFormatted) parameters.inputBuffer = &from_;
  const VkFFTResult result = VkFFTAppend(&application_, inverse ? 1 : -1, &parameters);
  if (result != VKFFT_SUCCESS)
    throw Error(ErrorCode::device,
                fmt::format("queueing an FFT with VkFFT: its result is {}", static_cast<int>(result)));
}

template <class Real>
class VkfftEngine final : public GpuDenseEngine<Real> {
 public:
  explicit VkfftEngine(const DenseProblem& problem) : problem_(problem), contiguous_(problem.contiguous()) {
    constexpr bool kDouble = sizeof(Real) == 8;
    if (!problem.real && !problem.forward_only) {
      forward_.emplace(problem, kDouble, Directions::both);
      return;
    }
    forward_.emplace(problem, kDouble, Directions::forward);
    if (!problem.forward_only) inverse_.emplace(problem, kDouble, Directions::inverse);
  }

  std::size_t workspace_bytes() const noexcept override {
    return temporary_bytes() + (problem_.real || !contiguous_ ? cuda::aligned(spectrum_bytes()) : 0);
  }
  bool reads(ElementType type) const noexcept override { return !problem_.real || !is_complex(type); }
  bool writes_strides() const noexcept override { return true; }

  void forward(const void* signals, ElementType type, std::complex<Real>* spectra, Real scale,
               std::byte* workspace, CUstream_st* stream) const override {
    void* from = const_cast<void*>(signals);  // VkFFT does not write it, unless it is the output
    const bool packs = !contiguous_ || type != own_type<Real>(problem_);
    if (packs) {  // one scaled copy
      from = problem_.real ? static_cast<void*>(workspace + temporary_bytes()) : spectra;
      cuda::launch_copy(signal_grid(problem_, Side::strided, Side::packed, problem_.row_points()), signals,
                        static_cast<cuda::Element>(type), from, sample_type(), static_cast<double>(scale),
                        stream);
    }
    forward_->run(false, from, spectra, workspace, stream);
    const cuda::Element complex = static_cast<cuda::Element>(element_type_of<std::complex<Real>>::value);
    if (!packs && scale != 1)
      cuda::launch_copy(cuda::copy_rows(1, total_spectrum_points(problem_), 0, 0), spectra, complex, spectra,
                        complex, static_cast<double>(scale), stream);
  }

  void inverse(const std::complex<Real>* spectra, void* signals, Real scale, std::byte* workspace,
               CUstream_st* stream) const override {
    void* to = signals;
    const bool unpacks = problem_.real || !contiguous_;
    if (unpacks) to = workspace + temporary_bytes();
    if (problem_.real) {
      cuda::copy_on_device(to, spectra, spectrum_bytes(), stream);
      make_hermitian(problem_, static_cast<std::complex<Real>*>(to), stream);
    }
    (inverse_ ? *inverse_ : *forward_)
        .run(true, const_cast<std::complex<Real>*>(spectra), to, workspace, stream);
    if (unpacks || scale != 1)
      cuda::launch_copy(
          signal_grid(problem_, unpacks ? Side::packed : Side::strided, Side::strided, padded_row()), to,
          sample_type(), signals, sample_type(), static_cast<double>(scale), stream);
  }

  std::string name() const override { return "VkFFT"; }

 private:
  std::size_t spectrum_bytes() const noexcept {
    return static_cast<std::size_t>(total_spectrum_points(problem_)) * sizeof(std::complex<Real>);
  }
  /// Length of a signal's row in the memory of its spectrum, in samples.
  std::int64_t padded_row() const noexcept {
    return problem_.real ? 2 * (problem_.row_points() / 2 + 1) : problem_.row_points();
  }
  cuda::Element sample_type() const noexcept { return static_cast<cuda::Element>(own_type<Real>(problem_)); }

  std::size_t temporary_bytes() const noexcept {
    return std::max(forward_->temporary_bytes(), inverse_ ? inverse_->temporary_bytes() : 0);
  }

  DenseProblem problem_;
  bool contiguous_;
  mutable std::optional<Application> forward_;  ///< of complex problems: for both directions
  mutable std::optional<Application> inverse_;  ///< of real problems
};

}  // namespace

bool have_vkfft() noexcept {
  return true;
}

template <class Real>
std::unique_ptr<const GpuDenseEngine<Real>> make_vkfft_engine(const DenseProblem& problem) {
  return std::make_unique<const VkfftEngine<Real>>(problem);
}

template std::unique_ptr<const GpuDenseEngine<float>> make_vkfft_engine(const DenseProblem&);
template std::unique_ptr<const GpuDenseEngine<double>> make_vkfft_engine(const DenseProblem&);

}  // namespace sfft::detail
