// SPDX-License-Identifier: Apache-2.0
// The accessors that all dense plans share.
#include "sfft/dense_state.hpp"

#include "sfft/dense.hpp"
#include "sfft/workspace_access.hpp"

namespace sfft::dense::detail {

const Shape& AnyPlan::shape() const noexcept {
  return state_->problem.shape;
}
Domain AnyPlan::domain() const noexcept {
  return state_->problem.domain();
}
const Options& AnyPlan::options() const noexcept {
  return state_->options;
}
Engine AnyPlan::engine() const noexcept {
  return state_->engine;
}
std::string AnyPlan::engine_name() const {
  return state_->any_runner().name();
}
std::string AnyPlan::reason() const {
  return state_->reason;
}
std::string AnyPlan::explain() const {
  return state_->explain();
}

std::size_t PlanWithWorkspace::workspace_bytes() const noexcept {
  return state_->workspace_bytes;
}
std::size_t PlanWithWorkspace::device_workspace_bytes() const noexcept {
  return state_->device_workspace_bytes;
}
Workspace PlanWithWorkspace::make_workspace() const {
  return sfft::detail::make_dense_workspace(workspace_bytes(), device_workspace_bytes(),
                                            options().device.gpu_number());
}

}  // namespace sfft::dense::detail
