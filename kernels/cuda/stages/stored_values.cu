// SPDX-License-Identifier: Apache-2.0
// A thread converts two neighbours at a time, which are one word of 16-bit values.
#include "kernels/base/half.hpp"
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/stages/stored_values.hpp"

namespace sfft::detail::cuda {

namespace {

template <class Part>
struct alignas(2 * sizeof(Part)) Two {
  Part x, y;
};

template <class From, class To>
__global__ void convert_kernel(const From* __restrict__ from, To* __restrict__ to, std::int64_t count,
                               float factor) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x,
                     first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < count / 2; i += step) {
    const Two<From> two = reinterpret_cast<const Two<From>*>(from)[i];
    reinterpret_cast<Two<To>*>(to)[i] = {Stored<To>::of(to_float(two.x) * factor),
                                         Stored<To>::of(to_float(two.y) * factor)};
  }
  if (first == 0 && count % 2 != 0) to[count - 1] = Stored<To>::of(to_float(from[count - 1]) * factor);
}

template <class From, class To>
void convert(const void* from, void* to, std::int64_t count, float factor, Stream stream) {
  convert_kernel<<<strided_blocks((count + 1) / 2), kThreads, 0, stream>>>(
      static_cast<const From*>(from), static_cast<To*>(to), count, factor);
  check_launch("conversion of stored values");
}

}  // namespace

void launch_widen(const void* from, dense::Storage storage, std::int64_t count, float* to, Stream stream) {
  switch (storage) {
    case dense::Storage::f32:
      return convert<float, float>(from, to, count, 1, stream);
    case dense::Storage::f16:
      return convert<F16, float>(from, to, count, 1, stream);
    case dense::Storage::bf16:
      return convert<Bf16, float>(from, to, count, 1, stream);
    case dense::Storage::block16:
      break;
  }
}

void launch_narrow(const float* from, std::int64_t count, float factor, dense::Storage storage, void* to,
                   Stream stream) {
  switch (storage) {
    case dense::Storage::f32:
      return convert<float, float>(from, to, count, factor, stream);
    case dense::Storage::f16:
      return convert<float, F16>(from, to, count, factor, stream);
    case dense::Storage::bf16:
      return convert<float, Bf16>(from, to, count, factor, stream);
    case dense::Storage::block16:
      break;
  }
}

}  // namespace sfft::detail::cuda
