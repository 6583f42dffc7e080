// SPDX-License-Identifier: Apache-2.0
// Replaces GPU planning in builds without a CUDA toolkit: plans for a GPU throw.
#include "kernels/dense/out_of_core/out_of_core_device.hpp"
#include "kernels/dense/request/compact_runner.hpp"
#include "kernels/dense/request/selective_runner.hpp"
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
DenseChoice<Real> choose_on_gpu(const DenseRequest&) {
  no_backend();
}

template <class Real>
DenseChoice<Real> choose_on_several(const DenseRequest&) {
  no_backend();
}

template <class Real>
std::unique_ptr<const SlabRunner<Real>> make_slab_runner(const DenseRequest&) {
  no_backend();
}

// Never called, because no such plan exists.
void copy_to_slabs(const void*, const Shape&, std::size_t, const std::vector<dense::Slab>&,
                   std::span<void* const>) {}
void copy_from_slabs(void*, const Shape&, std::size_t, const std::vector<dense::Slab>&,
                     std::span<const void* const>) {}

CompactChoice choose_compact_on_gpu(const CompactRequest&) {
  no_backend();
}

template <class Real>
std::unique_ptr<const SelectiveRunner<Real>> select_on_gpu(const DenseRequest& request,
                                                           std::span<const std::int64_t>) {
  choose_on_gpu<Real>(request);  // throws
  return nullptr;
}

bool gpu_usable(int) {
  return false;
}

std::unique_ptr<OutOfCoreDevice> make_gpu_device(int, std::int64_t) {
  no_backend();
}

template std::unique_ptr<const SelectiveRunner<float>> select_on_gpu(const DenseRequest&,
                                                                     std::span<const std::int64_t>);
template std::unique_ptr<const SelectiveRunner<double>> select_on_gpu(const DenseRequest&,
                                                                      std::span<const std::int64_t>);
template DenseChoice<float> choose_on_several(const DenseRequest&);
template DenseChoice<double> choose_on_several(const DenseRequest&);
template std::unique_ptr<const SlabRunner<float>> make_slab_runner(const DenseRequest&);
template std::unique_ptr<const SlabRunner<double>> make_slab_runner(const DenseRequest&);
template DenseChoice<float> choose_on_gpu(const DenseRequest&);
template DenseChoice<double> choose_on_gpu(const DenseRequest&);

}  // namespace sfft::detail
