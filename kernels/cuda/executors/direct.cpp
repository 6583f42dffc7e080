// SPDX-License-Identifier: Apache-2.0
// Uploads twiddles and flags at plan time; a batch is then a single launch without scratch.
#include "kernels/cuda/executors/exact.hpp"

#include "kernels/cuda/runtime/convert.hpp"

namespace sfft::detail::cuda {

template <class Real>
DirectExecutor<Real>::DirectExecutor(std::int64_t points, int k, bool real,
                                     const std::vector<std::complex<double>>& twiddles,
                                     const std::vector<std::uint8_t>& flags)
    : points_(points),
      twiddles_(upload(as_device<Real>(twiddles))),
      errors_(upload(std::vector<Real>(static_cast<std::size_t>(k), Real(0)))),
      flags_(upload(flags)) {
  plan_.k = plan_.rows = k;
  plan_.real = real;
  plan_.gain = plan_.bias = errors_.as<Real>();
  plan_.flags = flags_.as<std::uint8_t>();
}

template <class Real>
std::unique_ptr<State> DirectExecutor<Real>::make_state(int frames) const {
  auto state = std::make_unique<State>();
  state->frames = frames;
  return state;
}

template <class Real>
void DirectExecutor<Real>::enqueue(const Batch<Real>& batch, State&, Stream stream) const {
  if (batch.count > 0) launch_direct(plan_, points_, twiddles_.as<Complex<Real>>(), batch, stream);
}

template class DirectExecutor<float>;
template class DirectExecutor<double>;

}  // namespace sfft::detail::cuda
