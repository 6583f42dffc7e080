// SPDX-License-Identifier: Apache-2.0
// Creates plans without a work area; callers supply one. A bad status becomes an error that names the
// operation.
#include "kernels/cuda/runtime/cufft_handle.hpp"

#include <cuda_runtime.h>
#include <cufft.h>
#include <fmt/format.h>

#include <utility>

#include "sfft/error.hpp"

namespace sfft::detail::cuda {

namespace {

/// Whether full memory is the likely cause of a failure that cuFFT does not explain. cuFFT loads code and
/// tables on first use, and a module takes some tens of megabytes.
bool memory_is_short(int status) {
  constexpr std::size_t kModule = std::size_t{64} << 20;
  if (status != CUFFT_INTERNAL_ERROR && status != CUFFT_SETUP_FAILED && status != CUFFT_EXEC_FAILED)
    return false;
  std::size_t free = 0, total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess && free < kModule;
}

}  // namespace

void check_cufft(int status, const char* what) {
  if (status == CUFFT_SUCCESS) return;
  const cudaError_t left = cudaGetLastError();  // left by cuFFT's calls to the runtime
  if (status == CUFFT_ALLOC_FAILED || left == cudaErrorMemoryAllocation || memory_is_short(status))
    throw Error(
        ErrorCode::out_of_memory,
        fmt::format("{}: cuFFT needs GPU memory for its code and tables, and there is none left", what));
  const bool refused = status == CUFFT_INVALID_SIZE || status == CUFFT_INVALID_VALUE ||
                       status == CUFFT_NOT_SUPPORTED || status == CUFFT_INVALID_TYPE;
  throw Error(refused ? ErrorCode::backend_unavailable : ErrorCode::device,
              fmt::format("{}: cuFFT failed with status {}", what, status));
}

CufftHandle::CufftHandle() {
  check_cufft(cufftCreate(&value_), "creating an FFT plan");
  if (const cufftResult status = cufftSetAutoAllocation(value_, 0); status != CUFFT_SUCCESS) {
    static_cast<void>(cufftDestroy(value_));
    check_cufft(status, "preparing an FFT plan");
  }
}

bool CufftHandle::compile_kernels() {
#if CUFFT_VERSION >= 11200
  return cufftSetPlanPropertyInt64(value_, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 1) == CUFFT_SUCCESS;
#else
  return false;
#endif
}

CufftHandle::~CufftHandle() {
  if (value_ != kNone) static_cast<void>(cufftDestroy(value_));
}

CufftHandle::CufftHandle(CufftHandle&& other) noexcept : value_(std::exchange(other.value_, kNone)) {}

CufftHandle& CufftHandle::operator=(CufftHandle&& other) noexcept {
  std::swap(value_, other.value_);
  return *this;
}

}  // namespace sfft::detail::cuda
