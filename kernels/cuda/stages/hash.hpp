// SPDX-License-Identifier: Apache-2.0
// Stage "hash" at plan time: finds the buckets of a template's frequencies in a comb. Flat windows are hashed
// on the host.
#pragma once

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/stages/binning.hpp"

namespace sfft::detail::cuda {

/// A grid as kernels see it: extents of `rank` dimensions, slowest first; unused ones are 1.
struct GridShape {
  int rank = 1;
  std::int64_t extents[3] = {1, 1, 1};
};

/// out[i] = the buckets of support[i] (a linear index) and of its negative. All arrays are in device memory.
void launch_comb_hash(const GridShape& shape, const std::int64_t* buckets, const std::int64_t* support, int k,
                      BucketPair* out, Stream stream);

}  // namespace sfft::detail::cuda
