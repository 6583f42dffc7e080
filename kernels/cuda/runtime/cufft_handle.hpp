// SPDX-License-Identifier: Apache-2.0
// Owns the handle of a cuFFT plan, and turns cuFFT's errors into sfft::Error.
#pragma once

namespace sfft::detail::cuda {

/// `status`: a cufftResult; `what`: the operation, for the message. Throws Error: out_of_memory,
/// backend_unavailable for a problem that cuFFT does not support, else device.
void check_cufft(int status, const char* what);

/// Destroys the plan with its owner. Allocates no work area.
class CufftHandle {
 public:
  CufftHandle();
  ~CufftHandle();
  CufftHandle(CufftHandle&& other) noexcept;
  CufftHandle& operator=(CufftHandle&& other) noexcept;
  int get() const noexcept { return value_; }
  /// Lets cuFFT compile kernels for the problem (NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT); call before
  /// planning. False: this cuFFT compiles none.
  bool compile_kernels();

 private:
  static constexpr int kNone = -1;
  int value_ = kNone;
};

}  // namespace sfft::detail::cuda
