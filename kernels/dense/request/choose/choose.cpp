// SPDX-License-Identifier: Apache-2.0
// Decides where a plan runs: CPU, one GPU, several, or through GPUs in pieces.
#include <fmt/format.h>

#include <numeric>

#include "kernels/base/math/index.hpp"
#include "kernels/dense/request/runner.hpp"

namespace sfft::detail {

template <class Real>
Choice<FullCall> choose(const DenseRequest& request) {
  if (!for_gpu(request.options)) return choose_on_cpu<Real>(request);
  if (request.layout) {
    throw Error(ErrorCode::backend_unavailable,
                "this layout runs on the CPU only: leave out Options::device and the engine or, for a GPU, "
                "transform up to three dimensions with one batch dimension and contiguous spectra");
  }
  if (auto pieces = choose_out_of_core<Real>(request)) return std::move(*pieces);
  return request.options.device.several() ? choose_on_several<Real>(request) : choose_on_gpu<Real>(request);
}

Choice<CompactCall> choose_compact(const CompactRequest& request) {
  return for_gpu(request.dense.options) ? choose_compact_on_gpu(request) : choose_compact_on_cpu(request);
}

template <class Real>
Choice<SelectedCall<Real>> choose_selected(const DenseRequest& request, const KeptOutput& kept) {
  if (!for_gpu(request.options)) return select_on_cpu<Real>(request, kept);
  std::vector<std::int64_t> support = kept.support;
  if (kept.range) {
    const FrequencyRange& range = *kept.range;
    if (!range.bins) {
      throw Error(ErrorCode::backend_unavailable,
                  "zoom() runs on the CPU only: leave out Options::device, or use band() if the frequencies "
                  "are neighbouring integers");
    }
    const auto first = floor_mod(static_cast<std::int64_t>(range.start), request.problem.shape.points());
    if (first + range.count > request.problem.spectrum_points()) {
      throw Error(
          ErrorCode::backend_unavailable,
          fmt::format("on a GPU a band ends within the stored spectrum of {} values, and this one has "
                      "{} from {} on: use two bands or, for negative frequencies of real signals, "
                      "conjugates",
                      request.problem.spectrum_points(), range.count, first));
    }
    support.resize(kept.values());
    std::iota(support.begin(), support.end(), first);
  }
  return select_on_gpu<Real>(request, support);
}

template Choice<FullCall> choose<float>(const DenseRequest&);
template Choice<FullCall> choose<double>(const DenseRequest&);
template Choice<SelectedCall<float>> choose_selected(const DenseRequest&, const KeptOutput&);
template Choice<SelectedCall<double>> choose_selected(const DenseRequest&, const KeptOutput&);

}  // namespace sfft::detail
