// SPDX-License-Identifier: Apache-2.0
// Replaces tensor_engine.cpp in builds without SFFT_PREVIEW: asking for the engine throws.
#include "kernels/base/error.hpp"
#include "kernels/dense/problem/gpu_engine.hpp"

namespace sfft::detail {

bool have_tensor() noexcept {
  return false;
}

template <class Real>
std::unique_ptr<const GpuDenseEngine<Real>> make_tensor_engine(const DenseProblem&) {
  throw Error(
      ErrorCode::backend_unavailable,
      "this build has no engine tensor, a preview that has not passed its tests on a GPU: use tuned, or "
      "build with SFFT_PREVIEW=ON");
}

template std::unique_ptr<const GpuDenseEngine<float>> make_tensor_engine(const DenseProblem&);
template std::unique_ptr<const GpuDenseEngine<double>> make_tensor_engine(const DenseProblem&);

}  // namespace sfft::detail
