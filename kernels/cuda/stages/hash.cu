// SPDX-License-Identifier: Apache-2.0
// One thread per frequency; the arithmetic is that of kernels/base/math/hash.hpp.
#include "kernels/base/math/hash.hpp"

#include "kernels/cuda/stages/stages.hpp"

namespace sfft::detail::cuda {

namespace {

constexpr int kThreads = 128;

struct Triple {
  std::int64_t v[3];
};

__device__ Triple coordinates(const GridShape& shape, std::int64_t flat) {
  Triple f{{0, 0, 0}};
  for (int d = shape.rank - 1; d >= 0; --d) {
    f.v[d] = flat % shape.extents[d];
    flat /= shape.extents[d];
  }
  return f;
}

__global__ void comb_hash_kernel(GridShape shape, Triple buckets, const std::int64_t* support, int k,
                                 BucketPair* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= k) return;
  const Triple f = coordinates(shape, support[i]);
  const std::int64_t at = comb_bucket(f.v, buckets.v);
  out[i] = {static_cast<std::int32_t>(at), static_cast<std::int32_t>(comb_mirror(at, buckets.v))};
}

Triple triple(const std::int64_t* values) {
  return {{values[0], values[1], values[2]}};
}

}  // namespace

void launch_comb_hash(const GridShape& shape, const std::int64_t* buckets, const std::int64_t* support, int k,
                      BucketPair* out, Stream stream) {
  comb_hash_kernel<<<(k + kThreads - 1) / kThreads, kThreads, 0, stream>>>(shape, triple(buckets), support, k,
                                                                           out);
  check_launch("hash");
}

}  // namespace sfft::detail::cuda
