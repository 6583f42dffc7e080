// SPDX-License-Identifier: Apache-2.0
// Passes ranges to NVTX, whose header loads the tool that the profiler names in the environment.
#include "kernels/runtime/trace.hpp"

#include "sfft_build_config.hpp"
#if SFFT_HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace sfft::detail {

#if SFFT_HAVE_NVTX

namespace {

/// Null without a tool.
nvtxDomainHandle_t domain() noexcept {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("sfft");
  return handle;
}

void push(const char* name) noexcept {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  nvtxDomainRangePushEx(domain(), &attributes);
}

void pop() noexcept {
  nvtxDomainRangePop(domain());
}

}  // namespace

bool TraceRange::find_tool() noexcept {
  const bool found = domain() != nullptr;
  state_.store(found ? State::on : State::off, std::memory_order_relaxed);
  return found;
}

#else

namespace {

void push(const char*) noexcept {}
void pop() noexcept {}

}  // namespace

bool TraceRange::find_tool() noexcept {
  state_.store(State::off, std::memory_order_relaxed);
  return false;
}

#endif

void TraceRange::begin(const char* name) noexcept {
  outer_ = current_;
  current_ = this;
  push(name);
}

void TraceRange::end() noexcept {
  if (stage_ != nullptr) pop();
  pop();
  current_ = outer_;
}

void TraceRange::begin_stage(const char* name) noexcept {
  if (current_ == nullptr || current_->stage_ == name) return;
  if (current_->stage_ != nullptr) pop();
  push(name);
  current_->stage_ = name;
}

}  // namespace sfft::detail
