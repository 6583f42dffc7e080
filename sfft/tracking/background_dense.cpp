// SPDX-License-Identifier: Apache-2.0
// A thread sends submitted frames to the GPU, several at a time. The caller itself transforms a frame that
// was not submitted if the thread is idle.
#include "sfft/tracking/frame_pipeline.hpp"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "sfft/plan/plan_impl.hpp"

namespace sfft::detail {

namespace {

/// After this many dense transforms, a GPU's fastest engine pays off however long its creation takes.
constexpr std::int64_t kManyDense = 1024;

}  // namespace

template <class Real>
PlanOptions BackgroundDense<Real>::options() const {
  PlanOptions options;
  options.device = where_.device.several() ? Device::gpu(where_.device.gpu_number()) : where_.device;
  options.path = Path::dense;
  // Compiling kernels takes a quarter of a second, longer than about a thousand comparisons without them.
  if (executed_ < kManyDense) options.effort = PlanEffort::quick;
  options.threads = where_.threads;
  return options;
}

template <class Real>
void BackgroundDense<Real>::renew(std::optional<Plan<Real>> plan) noexcept {
  cancel();
  plan_ = std::move(plan);
}

template <class Real>
void BackgroundDense<Real>::cancel() noexcept {
  if (first_ < end_) {
    cancelling_ = true;
    wait_for(end_ - 1);
    cancelling_ = false;
  }
  first_ = end_ = 0;
  done_ = 0;
}

template <class Real>
void BackgroundDense<Real>::prepare() noexcept {
  try {
    if (plan_) worker_.wake();
  } catch (const std::exception&) {  // thread creation failed
  }
}

/// Returns end_ if the frame is not pending.
template <class Real>
std::size_t BackgroundDense<Real>::find(std::int64_t number) noexcept {
  std::size_t at = first_;
  while (at < end_ && !(pending(at).needed && pending(at).number == number)) ++at;
  return at;
}

template <class Real>
void BackgroundDense<Real>::submit(const SignalView& frame, std::int64_t number) noexcept {
  if (!plan_ || end_ - first_ == kMax || find(number) < end_) return;
  const PlanImpl<Real>& plan = inside(*plan_);
  if (plan.design->executor->backend() != Backend::cuda) return;
  try {
    plan.check(frame);
    Pending& place = pending(end_);
    place.number = number;
    place.needed = true;
    place.sent = place.failed = false;
    worker_.give([this, at = end_.load(), frame] { transform(at, frame); });
    ++end_;
  } catch (const std::exception&) {  // execute() reports a failure that persists
  }
}

/// Runs on the thread: sends the frame, then waits for sent frames until another one can follow.
template <class Real>
void BackgroundDense<Real>::transform(std::size_t at, const SignalView& frame) noexcept {
  constexpr std::size_t kOnGpu = 3;  // one is transformed while others are copied or launched
  send(at, frame);
  ++awaited_;
  while (awaited_ > 0) {
    const bool another = end_ > at + 1;
    if (another && awaited_ < kOnGpu) return;
    receive(at + 1 - awaited_);
  }
}

template <class Real>
void BackgroundDense<Real>::send(std::size_t at, const SignalView& frame) noexcept {
  Pending& place = pending(at);
  place.failed = cancelling_;
  if (place.failed) return;
  try {
    const PlanImpl<Real>& plan = inside(*plan_);
    WorkspaceImpl& workspace = inside(workspace_);
    plan.prepare(place.spectrum);
    workspace.fit(plan.design);
    workspace.fit_threads(plan.design->threads);
    place.sent = plan.design->executor->submit({&frame, 1}, {&place.spectrum, 1}, nullptr, *workspace.state,
                                               workspace.pool.get()) == 1;
    place.failed = !place.sent;
  } catch (const std::exception&) {
    fail(at - awaited_, at + 1);
  }
}

/// Fetches the oldest frame, which is at this position, if it is done.
template <class Real>
void BackgroundDense<Real>::receive(std::size_t at) noexcept {
  const PlanExecutor<Real>& device = *inside(*plan_).design->executor;
  if (pending(at).sent) {
    try {
      PlanWorkspace& workspace = *inside(workspace_).state;
      if (!device.ready(workspace)) return std::this_thread::yield();
      pending(at).failed = device.wait(workspace) != 1;
    } catch (const std::exception&) {
      fail(at, at + awaited_);
    }
  }
  --awaited_;
  done_ = at + 1;  // after the last frame, the caller may reset the counters
}

/// Discards all frames on the GPU. execute() transforms them again and reports a failure that persists.
template <class Real>
void BackgroundDense<Real>::fail(std::size_t first, std::size_t end) noexcept {
  const WorkspaceImpl& workspace = inside(workspace_);
  if (workspace.state) inside(*plan_).design->executor->cancel(*workspace.state);
  for (std::size_t at = first; at < end; ++at) {
    pending(at).sent = false;
    pending(at).failed = true;
  }
}

/// Waits for a pending frame. False: it failed. Polls, because waking up takes as long as the transform.
template <class Real>
bool BackgroundDense<Real>::wait_for(std::size_t at) noexcept {
  while (done_ <= at) std::this_thread::yield();
  return !pending(at).failed;
}

template <class Real>
const Spectrum<Real>* BackgroundDense<Real>::found(std::int64_t number) noexcept {
  const std::size_t at = find(number);
  return at < end_ && at < done_ && !pending(at).failed ? &pending(at).spectrum : nullptr;
}

/// Makes room by dropping the oldest frames that are done and no longer needed.
template <class Real>
void BackgroundDense<Real>::drop_discarded() noexcept {
  while (first_ < done_ && !pending(first_).needed) ++first_;
  if (first_ < end_) return;
  first_ = end_ = 0;
  done_ = 0;
}

template <class Real>
void BackgroundDense<Real>::discard(std::int64_t number) noexcept {
  if (first_ == end_) return;
  const std::size_t at = find(number);
  if (at < end_) pending(at).needed = false;
  drop_discarded();
}

template <class Real>
void BackgroundDense<Real>::keep_only(const StreamFrames& frames) noexcept {
  for (std::size_t at = first_; at < end_; ++at) {
    const Pending& one = pending(at);
    if (one.needed && one.number >= frames.number && one.number < frames.end()) continue;
    wait_for(at);
    pending(at).needed = false;
  }
  drop_discarded();
}

/// Waits for the frame. False: it failed, or it was not submitted and the thread is idle.
template <class Real>
bool BackgroundDense<Real>::take_submitted(const SignalView& frame, std::int64_t number,
                                           Spectrum<Real>& spectrum) noexcept {
  if (done_ < end_) submit(frame, number);  // queued behind the others
  const std::size_t at = find(number);
  if (at == end_ || !wait_for(at)) return false;
  std::swap(spectrum, pending(at).spectrum);
  pending(at).needed = false;
  drop_discarded();
  return true;
}

template <class Real>
void BackgroundDense<Real>::make(const Template& tmpl) {
  if (!plan_) plan_.emplace(tmpl, options());
  inside(workspace_).fit(inside(*plan_).design);
}

template <class Real>
void BackgroundDense<Real>::execute(const Template& tmpl, const SignalView& frame, std::int64_t number,
                                    Spectrum<Real>& spectrum) {
  if (++executed_ == kManyDense) renew();
  if (take_submitted(frame, number, spectrum)) return;
  if (done_ < end_) cancel();
  make(tmpl);
  plan_->execute(frame, spectrum, workspace_);
}

template class BackgroundDense<float>;
template class BackgroundDense<double>;

}  // namespace sfft::detail
