// SPDX-License-Identifier: Apache-2.0
// Decides where a plan runs: CPU, one GPU, several, or through GPUs in pieces.
#include "kernels/dense/request/runner.hpp"

namespace sfft::detail {

template <class Real>
Choice<FullCall> choose(const DenseRequest& request) {
  if (!for_gpu(request.options)) return choose_on_cpu<Real>(request);
  if (auto pieces = choose_out_of_core<Real>(request)) return std::move(*pieces);
  return request.options.device.several() ? choose_on_several<Real>(request) : choose_on_gpu<Real>(request);
}

Choice<CompactCall> choose_compact(const CompactRequest& request) {
  return for_gpu(request.dense.options) ? choose_compact_on_gpu(request) : choose_compact_on_cpu(request);
}

template <class Real>
Choice<SelectedCall<Real>> choose_selected(const DenseRequest& request,
                                           std::span<const std::int64_t> support) {
  return for_gpu(request.options) ? select_on_gpu<Real>(request, support)
                                  : select_on_cpu<Real>(request, support);
}

template Choice<FullCall> choose<float>(const DenseRequest&);
template Choice<FullCall> choose<double>(const DenseRequest&);
template Choice<SelectedCall<float>> choose_selected(const DenseRequest&, std::span<const std::int64_t>);
template Choice<SelectedCall<double>> choose_selected(const DenseRequest&, std::span<const std::int64_t>);

}  // namespace sfft::detail
