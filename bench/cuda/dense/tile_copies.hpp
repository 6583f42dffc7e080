// SPDX-License-Identifier: Apache-2.0
// Copies with the access patterns of a two-pass transform, without its arithmetic. Their rate bounds that of
// such a transform.
#pragma once

#include <cuda_runtime.h>

namespace sfft::bench {

/// A matrix of complex numbers whose columns are lines, and the sides of a copy that are strided. On a
/// strided side, a tile of a few neighbouring columns is accessed row by row in place; otherwise tiles are
/// contiguous.
struct TileCopy {
  long long rows, columns;
  bool strided_in, strided_out;
};

/// Copies with one block per tile. `width` is 4 or 16 columns. With `prefetch`, a read fetches 256 bytes into
/// the L2 cache. Device memory.
void copy_by_tiles(const float2* in, float2* out, const TileCopy& copy, int width, bool prefetch,
                   cudaStream_t stream);
/// Copies with one cluster of `size` blocks (4, 8 or 16) per tile of 16 columns and 2^12 rows. The blocks
/// exchange values through distributed shared memory. With `within`, there are also two exchanges before and
/// two after it through each block's shared memory. Returns false if the GPU has no clusters.
bool copy_by_clusters(const float2* in, float2* out, const TileCopy& copy, int size, bool within,
                      cudaStream_t stream);

}  // namespace sfft::bench
