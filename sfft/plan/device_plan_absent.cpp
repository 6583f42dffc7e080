// SPDX-License-Identifier: Apache-2.0
// Builds without a CUDA toolkit: there is no GPU to plan for.
#include "sfft/error.hpp"
#include "sfft/plan/device_plan.hpp"

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
std::unique_ptr<const DevicePlan<Real>> make_device_plan(const CombData&, const ErrorTable&,
                                                         const WitnessData&, const SupportSet&,
                                                         const TemplateData&, const PlanOptions&) {
  throw Error(ErrorCode::backend_unavailable, kAbsent);
}
template <class Real>
std::unique_ptr<const DevicePlan<Real>> make_device_plan(const FlatPlanData&, const ErrorTable&,
                                                         const WitnessData&, const SupportSet&,
                                                         const TemplateData&, const PlanOptions&) {
  throw Error(ErrorCode::backend_unavailable, kAbsent);
}
template <class Real>
std::unique_ptr<const DevicePlan<Real>> make_direct_device_plan(const SupportSet&, const TemplateData&,
                                                                const PlanOptions&) {
  throw Error(ErrorCode::backend_unavailable, kAbsent);
}
template <class Real>
std::unique_ptr<const DevicePlan<Real>> make_dense_device_plan(const SupportSet&, const TemplateData&,
                                                               const PlanOptions&) {
  throw Error(ErrorCode::backend_unavailable, kAbsent);
}

template <class Real>
bool dense_kernels_are_tuned(const TemplateData&, const PlanOptions&) {
  return false;
}

SFFT_INSTANTIATE_DEVICE_PLANS(float)
SFFT_INSTANTIATE_DEVICE_PLANS(double)

}  // namespace sfft::detail
