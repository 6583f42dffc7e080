#include "kernels/cuda/probe.hpp"

namespace sfft::detail::cuda {

namespace {
__global__ void probe() {}
}  // namespace

bool has_code() noexcept {
  cudaFuncAttributes attributes{};
  const bool found = cudaFuncGetAttributes(&attributes, probe) == cudaSuccess;
  static_cast<void>(cudaGetLastError());
  return found;
}

}  // namespace sfft::detail::cuda
