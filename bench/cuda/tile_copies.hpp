// SPDX-License-Identifier: Apache-2.0
// Copies with the access patterns that a transform in two trips through memory would have, without its
// arithmetic: what they reach bounds such a transform.
#pragma once

#include <cuda_runtime.h>

namespace sfft::bench {

/// A matrix of complex numbers whose columns are lines, and which sides of a copy go by columns: tiles of a
/// few neighbouring columns are read or written as they lie there, row by row, or one tile after the other.
struct TileCopy {
  long long rows, columns;
  bool strided_in, strided_out;
};

/// A block a tile. `width`: columns, 4 or 16; `prefetch`: reading brings 256 bytes to the L2 cache. Device
/// memory.
void copy_by_tiles(const float2* in, float2* out, const TileCopy& copy, int width, bool prefetch,
                   cudaStream_t stream);
/// A cluster of `size` blocks (4, 8 or 16) a tile of 16 columns of 2^12 rows, with an exchange between the
/// blocks through distributed shared memory and, if `within`, two before and after it through each block's
/// own. False where the GPU has no clusters.
bool copy_by_clusters(const float2* in, float2* out, const TileCopy& copy, int size, bool within,
                      cudaStream_t stream);

}  // namespace sfft::bench
