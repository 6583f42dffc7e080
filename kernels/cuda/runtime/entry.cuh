// SPDX-License-Identifier: Apache-2.0
// First steps of kernels: let the stream's next kernel start early, fetch the parameters, and wait for the
// previous kernel (programmatic dependent launch; compute capability 9.0).
#pragma once

namespace sfft::detail::cuda {

/// Lets the stream's next kernel start while this one runs, if that kernel was launched with `overlap`.
__device__ __forceinline__ void allow_next_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits for the stream's earlier work. Until then, an overlapping kernel may read only its plan and the
/// reference, which never change.
__device__ __forceinline__ void await_previous_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Fetches all of a kernel's parameters into the constant cache together rather than line by line on use.
template <class Arguments>
__device__ __forceinline__ void touch_parameters(const Arguments& arguments) {
  constexpr int kLine = 64 / sizeof(int);
  const int* words = reinterpret_cast<const int*>(&arguments);
  int all = 0;
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(Arguments) / sizeof(int)); i += kLine) all |= words[i];
  asm volatile("" ::"r"(all));
}

}  // namespace sfft::detail::cuda
