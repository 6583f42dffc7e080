// SPDX-License-Identifier: Apache-2.0
// Builds without a CUDA toolkit: there is no GPU to plan for.
#include "sfft/error.hpp"
#include "sfft/plan/device_memory.hpp"
#include "sfft/plan/plan_executor.hpp"

namespace sfft::detail {

namespace {
constexpr const char* kAbsent = "this build has no GPU backend: use Device::cpu() or Device::automatic()";
}

std::string device_problem(int) {
  return kAbsent;
}

DeviceTraits device_traits(int) {
  throw Error(ErrorCode::backend_unavailable, kAbsent);
}

void check_devices(std::span<const int>) {
  throw Error(ErrorCode::backend_unavailable, kAbsent);
}

std::shared_ptr<std::byte> allocate_page_locked(std::size_t, int) {
  throw Error(ErrorCode::backend_unavailable, kAbsent);
}

std::shared_ptr<std::byte> allocate_on_device(std::size_t, int) {
  throw Error(ErrorCode::backend_unavailable, kAbsent);
}

std::shared_ptr<std::byte> allocate_managed(std::size_t, int) {
  throw Error(ErrorCode::backend_unavailable, kAbsent);
}
void store_plane(const DevicePlane&, std::byte*, int) {
  throw Error(ErrorCode::backend_unavailable, kAbsent);
}

template <class Real>
const ExecutorMaker<Real>& gpu_executors() {
  throw Error(ErrorCode::backend_unavailable, kAbsent);
}

template <class Real>
bool dense_kernels_are_tuned(const TemplateData&, const PlanOptions&) {
  return false;
}

template const ExecutorMaker<float>& gpu_executors();
template const ExecutorMaker<double>& gpu_executors();
template bool dense_kernels_are_tuned<float>(const TemplateData&, const PlanOptions&);
template bool dense_kernels_are_tuned<double>(const TemplateData&, const PlanOptions&);

}  // namespace sfft::detail
