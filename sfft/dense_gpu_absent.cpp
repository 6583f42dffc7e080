// Builds without a CUDA toolkit: there is no GPU to plan for.
#include "sfft/dense_runner.hpp"

namespace sfft::detail {

bool gpu_engine_in_build(dense::Engine) noexcept {
  return false;
}

template <class Real>
DenseChoice<Real> choose_on_gpu(const DenseRequest&) {
  throw Error(ErrorCode::backend_unavailable,
              "this build has no GPU backend: use Backend::cpu, or build with a CUDA toolkit");
}

template DenseChoice<float> choose_on_gpu(const DenseRequest&);
template DenseChoice<double> choose_on_gpu(const DenseRequest&);

}  // namespace sfft::detail
