// SPDX-License-Identifier: Apache-2.0
// Replaces vkfft_engine.cpp in builds without vkFFT.h: requesting the engine throws.
#include "kernels/dense/problem/gpu_engine.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

bool have_vkfft() noexcept {
  return false;
}

template <class Real>
std::unique_ptr<const GpuDenseEngine<Real>> make_vkfft_engine(const DenseProblem&) {
  throw Error(ErrorCode::backend_unavailable,
              "this build has no VkFFT: install its header (libvkfft-dev) and configure again, or use cufft");
}

template std::unique_ptr<const GpuDenseEngine<float>> make_vkfft_engine(const DenseProblem&);
template std::unique_ptr<const GpuDenseEngine<double>> make_vkfft_engine(const DenseProblem&);

}  // namespace sfft::detail
