// SPDX-License-Identifier: Apache-2.0
// Marks functions that host and device code share.
#pragma once

#if defined(__CUDACC__)
#define SFFT_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define SFFT_HOST_DEVICE inline
#endif
