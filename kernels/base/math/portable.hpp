// SPDX-License-Identifier: Apache-2.0
// Marks functions that host and device code share.
#pragma once

#if defined(__CUDACC__)
#define SFFT_HOST_DEVICE __host__ __device__ __forceinline__
#define SFFT_INLINE SFFT_HOST_DEVICE
#else
#define SFFT_HOST_DEVICE inline
// For kernels compiled once per instruction set: always inline, because otherwise the linker could use an
// out-of-line copy that was compiled for another instruction set.
#define SFFT_INLINE inline __attribute__((always_inline))
#endif
