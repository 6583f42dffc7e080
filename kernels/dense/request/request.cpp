// SPDX-License-Identifier: Apache-2.0
// Arguments are checked before anything is allocated.
#include "kernels/dense/request/request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/math/smooth.hpp"
#include "kernels/dense/cpu/two_pass_fft.hpp"
#include "kernels/runtime/argument_checks.hpp"
#include "kernels/runtime/host_resources.hpp"

namespace sfft::detail {

using dense::Engine;

namespace {

bool gpu_engine(Engine engine) noexcept {
  return engine != Engine::automatic && engine != Engine::built_in && engine != Engine::fftw;
}

void check_device(const dense::Options& options) {
  for (const int gpu : options.device.gpus()) {
    if (gpu < 0)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("Options::device has GPU {}: GPUs are counted from 0", gpu));
  }
  const Backend backend = options.device.backend();
  if (options.engine == Engine::automatic || backend == Backend::automatic) return;
  if (gpu_engine(options.engine) != (backend == Backend::cuda)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the engine {} runs on the {}, and Options::device is {}: leave one of them out",
                            to_string(options.engine), gpu_engine(options.engine) ? "GPU" : "CPU",
                            to_string(options.device)));
  }
}

void check_enumerators(const dense::Options& options) {
  check_enumerator(options.engine, Engine::tensor, "Options::engine");
  check_enumerator(options.planning, dense::Options::Planning::measure, "Options::planning");
  check_enumerator(options.normalization, dense::Options::Normalization::unitary, "Options::normalization");
  check_enumerator(options.exchange, dense::Storage::block16, "Options::exchange");
}

/// The minimum number of arrays of one line that a CPU engine needs in addition to the signal and the
/// spectrum. These are the intermediate result of two passes, or the tables and four buffers of a convolution
/// twice as long.
double line_arrays(std::int64_t n) {
  if (two_pass_possible(n) || (n % 2 == 0 && two_pass_possible(n / 2))) return 1;
  constexpr std::int64_t kLargestRadixPrime = 13;
  return is_smooth(n, kLargestRadixPrime) ? 3 : 6;
}

/// Throws if a transform can never run, before planning spends time on its size. Arrays must fit the address
/// space, and what a CPU engine allocates must fit the memory.
void check_memory(const DenseRequest& request) {
  const DenseProblem& problem = request.problem;
  constexpr double kAddressSpace = 0x1p47, kValueBytes = 2 * sizeof(float);
  const auto signals =
      static_cast<double>(request.layout ? signal_span(*request.layout) : span_points(problem));
  const auto spectra = static_cast<double>(request.layout ? spectrum_span(*request.layout, problem.real) : 0);
  const double array = kValueBytes * std::max(signals / (problem.real ? 2 : 1), spectra);
  if (array > kAddressSpace) {
    throw Error(
        ErrorCode::size_overflow,
        fmt::format("{} signal{} of {} points take {:.3g} bytes, more than a process can address: make "
                    "the shape or the batch smaller",
                    problem.batch, problem.batch == 1 ? "" : "s", problem.shape.to_string(), array));
  }
  if (for_gpu(request.options)) return;
  std::int64_t longest = 1;
  for (const auto& dimension : request.whole_layout().transformed)
    longest = std::max(longest, dimension.extent);
  const double line = kValueBytes * line_arrays(longest) * static_cast<double>(longest);
  if (const double memory = host_memory_bytes(); line > memory) {
    throw Error(ErrorCode::out_of_memory,
                fmt::format("a transform of {} points needs at least {:.3g} bytes of memory for tables and "
                            "workspace, and this machine has {:.3g}: give a smaller shape",
                            problem.shape.to_string(), line, memory));
  }
}

void check_options(const dense::Options& options) {
  check_enumerators(options);
  if (options.exchange == dense::Storage::f16 || options.exchange == dense::Storage::bf16) {
    throw Error(ErrorCode::invalid_argument,
                "values are sent as f32 or block16, which is more accurate than f16 and bf16 in as many "
                "bytes: choose "
                "one of those for Options::exchange");
  }
  if (options.threads < 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("threads is {}: give a positive number, or kAllCores", options.threads));
  }
  if (options.device_memory && *options.device_memory < 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("device_memory is {}: give a number of bytes, or leave it out for what is free",
                            *options.device_memory));
  }
  if (options.host_share && !(*options.host_share >= 0 && *options.host_share <= 1)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("host_share is {}: give 0 to 1, or leave it out for the best", *options.host_share));
  }
  if (!availability(options.engine)) {
    throw Error(ErrorCode::backend_unavailable,
                fmt::format("the engine {} is not in this build: use automatic or built_in",
                            to_string(options.engine)));
  }
  check_device(options);
  if ((options.device_memory || options.host_share) && !for_gpu(options)) {
    throw Error(ErrorCode::invalid_argument,
                "device_memory and host_share are for plans on GPUs: set Options::device to Device::gpu()");
  }
}

void refuse_formats(const dense::Options& options) {
  if (options.formats == dense::Options::Formats{}) return;
  throw Error(ErrorCode::invalid_argument,
              "Options::formats is for dense::CompactPlan: leave it out, or make such a plan");
}

}  // namespace

DenseRequest make_request(const Shape& shape, bool real, const dense::Options& options) {
  refuse_formats(options);
  return make_request_with_formats(shape, real, options);
}

DenseRequest make_request_with_formats(const Shape& shape, bool real, const dense::Options& options) {
  DenseRequest request{make_problem(shape, real, options),
                       scales_of(options.normalization, static_cast<double>(shape.points())), options};
  check_options(options);
  check_memory(request);
  return request;
}

DenseRequest make_request(const dense::Layout& layout, bool real, const dense::Options& options) {
  refuse_formats(options);
  const LayoutProblem made = make_problem(layout, real, options);
  DenseRequest request{made.problem,
                       scales_of(options.normalization, static_cast<double>(made.problem.shape.points())),
                       options};
  if (!made.exact) request.layout = layout;
  check_options(options);
  check_memory(request);
  return request;
}

void require_plain_cpu(const DenseRequest& request, const char* what) {
  const Engine engine = request.options.engine;
  if (for_gpu(request.options) || (engine != Engine::automatic && engine != Engine::built_in)) {
    throw Error(
        ErrorCode::backend_unavailable,
        fmt::format("{} are computed on the CPU, by the engine built_in: leave out Options::device and "
                    "Options::engine",
                    what));
  }
  if (request.problem.contiguous()) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} take contiguous signals: leave out Options::signal_strides", what));
}

void refuse_several(const DenseRequest& request, const char* plan) {
  if (request.options.device_memory || request.options.host_share) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("a {} does not go through the GPU in pieces: leave device_memory and host_share out",
                    plan));
  }
  if (!request.options.device.several()) return;
  throw Error(ErrorCode::backend_unavailable,
              fmt::format("a {} runs on one GPU: set Options::device to Device::gpu()", plan));
}

bool for_gpu(const dense::Options& options) noexcept {
  return options.engine == Engine::automatic ? options.device.backend() == Backend::cuda
                                             : gpu_engine(options.engine);
}

int thread_count(const dense::Options& options) noexcept {
  if (options.threads > 0) return options.threads;
  return usable_processors();
}

void check_workspace(std::span<std::byte> given, std::size_t bytes, std::size_t alignment,
                     const char* function) {
  if (given.size() < bytes) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the workspace has {} bytes, {} asks for {}", given.size(), function, bytes));
  }
  if (reinterpret_cast<std::uintptr_t>(given.data()) % alignment != 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the workspace is not aligned to {} bytes", alignment));
  }
}

void check_queued(bool on_gpu, std::span<std::byte> workspace, std::size_t bytes) {
  if (!on_gpu) {
    throw Error(ErrorCode::backend_unavailable,
                "this plan is on the CPU and cannot be enqueued: plan with Options{.device = Device::gpu()}");
  }
  check_workspace(workspace, bytes, 256, "device_workspace_bytes()");
}

void Scratch::take(std::span<std::byte> given, std::size_t bytes) {
  if (given.empty()) {
    share_ = MemoryShare(bytes);
    data_ = own_ = static_cast<std::byte*>(::operator new(bytes, kAlignment, std::nothrow));
    if (own_ == nullptr) {
      throw Error(ErrorCode::out_of_memory,
                  fmt::format("a dense transform needs {} bytes of workspace", bytes));
    }
    return;
  }
  check_workspace(given, bytes, static_cast<std::size_t>(kAlignment), "workspace_bytes()");
}

void check_overlap(const void* input, std::size_t input_bytes, const void* output, std::size_t output_bytes,
                   bool in_place) {
  const auto in = reinterpret_cast<std::uintptr_t>(input);
  const auto out = reinterpret_cast<std::uintptr_t>(output);
  if (in + input_bytes <= out || out + output_bytes <= in || (in_place && in == out)) return;
  throw Error(
      ErrorCode::invalid_argument,
      "input and output overlap: transforms work in place if both have the same strides, signals of the "
      "plan's precision, and for real ones (on the CPU, and through a GPU in pieces) rows with room for half "
      "spectra");
}

}  // namespace sfft::detail
