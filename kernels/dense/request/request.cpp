// SPDX-License-Identifier: Apache-2.0
// Checks the options and the calls of every dense plan.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "kernels/dense/request/call_checks.hpp"
#include "kernels/dense/request/runner.hpp"

namespace sfft::detail {

using dense::Engine;

namespace {

/// A single device counts as if named alone; several do not support all that one does.
void check_devices(DenseRequest& request) {
  dense::Options& options = request.options;
  if (options.devices.empty()) return;
  for (const int device : options.devices) {
    if (device < 0)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("devices has {}: GPUs are counted from 0", device));
  }
  if (!for_gpu(options)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("devices are GPUs, and the engine {} runs on the CPU: leave one of them out",
                            to_string(options.engine)));
  }
  if (options.devices.size() == 1) {
    request.problem.device = options.device = options.devices[0];
    options.backend = Backend::cuda;
    options.devices.clear();
  }
}

}  // namespace

DenseRequest make_request(const Shape& shape, bool real, const dense::Options& options) {
  DenseRequest request{make_problem(shape, real, options), scales_of(options.normalization, shape.points()),
                       options};
  if (options.exchange == dense::Storage::f16 || options.exchange == dense::Storage::bf16) {
    throw Error(
        ErrorCode::invalid_argument,
        "values travel as f32 or block16, which is more accurate than f16 and bf16 in as many bytes: choose "
        "one of those for Options::exchange");
  }
  if (options.threads < 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("threads is {}: give a positive number, or 0 for one per core", options.threads));
  }
  if (options.device_memory < 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("device_memory is {}: give a number of bytes, or 0 for what is free",
                            options.device_memory));
  }
  if (!(options.host_share <= 1)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("host_share is {}: give 0 to 1, or a negative number for the best", options.host_share));
  }
  if (!available(options.engine)) {
    throw Error(ErrorCode::backend_unavailable,
                fmt::format("the engine {} is not in this build: use automatic or built_in",
                            to_string(options.engine)));
  }
  check_devices(request);
  return request;
}

void refuse_several(const DenseRequest& request, const char* plan) {
  if (request.options.devices.empty()) return;
  throw Error(ErrorCode::backend_unavailable, fmt::format("a {} runs on one GPU: name one device", plan));
}

bool for_gpu(const dense::Options& options) noexcept {
  return options.engine == Engine::automatic
             ? options.backend == Backend::cuda || !options.devices.empty()
             : options.engine != Engine::built_in && options.engine != Engine::fftw;
}

int thread_count(const dense::Options& options) noexcept {
  if (options.threads > 0) return options.threads;
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
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
                "this plan is on the CPU and cannot be queued: plan with Options{.backend = Backend::cuda}");
  }
  check_workspace(workspace, bytes, 256, "device_workspace_bytes()");
}

void Scratch::take(std::span<std::byte> given, std::size_t bytes) {
  if (given.empty()) {
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
      "input and output overlap: only contiguous complex transforms of the plan's own precision, and real "
      "ones that go through a GPU in pieces from rows with room for half spectra, work in place");
}

}  // namespace sfft::detail
