// SPDX-License-Identifier: Apache-2.0
// Threads stride over the set, lane fastest. If there are few streams, their offsets are kernel parameters.
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/stages/gather.cuh"
#include "kernels/cuda/stages/signal_samples.hpp"

namespace sfft::detail::cuda {

namespace {

struct Arguments {
  SampleSet set;
  std::int64_t first[kOffsetsInLaunch];  ///< the offsets, if the set has at most this many
};

/// Neighbouring threads read the lanes of one sample. Results are then written in whole lines, as the host
/// bus needs, and nearby delays are read together.
template <class Real, class T>
__global__ void read_set_kernel(const __grid_constant__ Arguments arguments, const T* signal, Real* re,
                                Real* im) {
  const SampleSet& set = arguments.set;
  const std::int64_t values = set.values();
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < values;
       i += threads) {
    const std::int64_t point = i / set.lanes;
    const std::int64_t lane = i - point * set.lanes;
    const std::int64_t row = point / set.counts[2];
    const std::int64_t slab = row / set.counts[1];
    const std::int64_t at = slab * set.strides[0] + (row - slab * set.counts[1]) * set.strides[1] +
                            (point - row * set.counts[2]) * set.strides[2];
    const std::int64_t* offsets = set.offsets == nullptr ? arguments.first : set.offsets;
    constexpr bool kComplex = IsComplex<T>::value;
    const std::int64_t first = offsets[kComplex ? lane : 2 * lane];
    const std::int64_t second = kComplex ? first : offsets[2 * lane + 1];
    const Complex<Real> z = read_pair<Real, T>(signal, at + first, at + second);
    re[i] = z.re;
    im[i] = z.im;
  }
}

}  // namespace

template <class Real>
void launch_read_set(const void* signal, Element type, const SampleSet& set, Real* re, Real* im,
                     Stream stream) {
  Arguments arguments{set, {}};
  const std::int64_t streams = type < Element::c64 ? 2 * set.lanes : set.lanes;
  if (streams <= kOffsetsInLaunch) {
    for (std::int64_t s = 0; s < streams; ++s) arguments.first[s] = set.offsets[s];
    arguments.set.offsets = nullptr;
  }
  with_element(type, [&](auto element) {
    using T = decltype(element);
    read_set_kernel<Real, T><<<strided_blocks(set.values()), kThreads, 0, stream>>>(
        arguments, static_cast<const T*>(signal), re, im);
  });
  check_launch("read_set");
}

template void launch_read_set<float>(const void*, Element, const SampleSet&, float*, float*, Stream);
template void launch_read_set<double>(const void*, Element, const SampleSet&, double*, double*, Stream);

}  // namespace sfft::detail::cuda
