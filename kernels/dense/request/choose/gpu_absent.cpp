// SPDX-License-Identifier: Apache-2.0
// Replaces GPU planning in builds without a CUDA toolkit: plans for a GPU throw.
#include "kernels/dense/out_of_core/out_of_core_device.hpp"
#include "kernels/dense/request/several/slab_runner.hpp"

namespace sfft::detail {

bool gpu_engine_in_build(dense::Engine) noexcept {
  return false;
}

namespace {

[[noreturn]] void no_backend() {
  throw Error(ErrorCode::backend_unavailable,
              "this build has no GPU backend: use dense::Plan, or build with a CUDA toolkit");
}

}  // namespace

template <class Real>
Choice<FullCall> choose_on_gpu(const DenseRequest&) {
  no_backend();
}

template <class Real>
Choice<FullCall> choose_on_several(const DenseRequest&) {
  no_backend();
}

template <class Real>
DistributedChoice choose_distributed(const DenseRequest&) {
  no_backend();
}

// Never called, because no such plan exists.
void copy_to_slabs(const void*, const Shape&, std::size_t, const std::vector<dense::Slab>&,
                   std::span<void* const>) {}
void copy_from_slabs(void*, const Shape&, std::size_t, const std::vector<dense::Slab>&,
                     std::span<const void* const>) {}

Choice<CompactCall> choose_compact_on_gpu(const CompactRequest&) {
  no_backend();
}

template <class Real>
Choice<SelectedCall<Real>> select_on_gpu(const DenseRequest&, std::span<const std::int64_t>) {
  no_backend();
}

bool gpu_usable(int) {
  return false;
}

std::unique_ptr<OutOfCoreDevice> make_gpu_device(int, std::int64_t) {
  no_backend();
}

template Choice<SelectedCall<float>> select_on_gpu(const DenseRequest&, std::span<const std::int64_t>);
template Choice<SelectedCall<double>> select_on_gpu(const DenseRequest&, std::span<const std::int64_t>);
template Choice<FullCall> choose_on_several<float>(const DenseRequest&);
template Choice<FullCall> choose_on_several<double>(const DenseRequest&);
template DistributedChoice choose_distributed<float>(const DenseRequest&);
template DistributedChoice choose_distributed<double>(const DenseRequest&);
template Choice<FullCall> choose_on_gpu<float>(const DenseRequest&);
template Choice<FullCall> choose_on_gpu<double>(const DenseRequest&);

}  // namespace sfft::detail
