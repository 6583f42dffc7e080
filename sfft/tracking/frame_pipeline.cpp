// SPDX-License-Identifier: Apache-2.0
// Keeps the ring of a GPU's workspace full: submits parts whenever it has room, before it waits for the
// current frame's spectrum.
#include "sfft/tracking/frame_pipeline.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "sfft/error.hpp"
#include "sfft/plan/plan_impl.hpp"

namespace sfft::detail {

namespace {

/// Maximum number of frames that a CPU plan transforms together.
constexpr std::size_t kLongestRun = 256;
/// Capacity of the ring in parts. All frames of a typical push may be ready before the first is taken.
constexpr std::size_t kParts = 4;

}  // namespace

template <class Real>
void FramePipeline<Real>::use(const Plan<Real>& plan) {
  if (resubmit(plan)) return;
  cancel();
  inside(workspace_).fit(inside(plan).design);
  plan_ = plan;
}

/// Transforms the frames that are ahead again, with a plan that has another reference. False: they must be
/// submitted again.
template <class Real>
bool FramePipeline<Real>::resubmit(const Plan<Real>& plan) noexcept {
  if (first_ == end_ || !overlaps() || inside(plan).design != inside(plan_).design) return false;
  try {
    const std::size_t count = inside(plan).design->executor->resubmit(
        spectra_[first_ % spectra_.size()], inside(plan).reference.get(), *inside(workspace_).state);
    if (count != end_ - first_) return false;
  } catch (const std::exception&) {  // take() reports a failure that persists
    return false;
  }
  plan_ = plan;
  done_ = first_;
  return true;
}

/// Number of frames in a part that the GPU transforms asynchronously; 0: the plan does not overlap.
template <class Real>
std::size_t FramePipeline<Real>::part() const noexcept {
  return inside(plan_).design->executor->part_ahead();
}

template <class Real>
bool FramePipeline<Real>::overlaps() const noexcept {
  return part() > 0;
}

template <class Real>
void FramePipeline<Real>::cancel() noexcept {
  if (done_ < end_) inside(plan_).design->executor->cancel(*inside(workspace_).state);
  first_ = done_ = end_ = 0;
}

template <class Real>
void FramePipeline<Real>::poll() noexcept {
  const PlanExecutor<Real>* const executor = inside(plan_).design->executor.get();
  try {
    while (done_ < end_ && executor->ready(*inside(workspace_).state))
      done_ += executor->wait(*inside(workspace_).state);
  } catch (const std::exception&) {
    cancel();
    alone_ = true;
  }
}

/// Allocates the ring. Call only while nothing is ahead.
template <class Real>
void FramePipeline<Real>::fit(std::size_t spectra) {
  first_ = done_ = end_ = 0;
  if (spectra_.size() >= spectra) return;
  spectra_.resize(spectra);
}

template <class Real>
void FramePipeline<Real>::take(const StreamFrames& frames, std::size_t wanted, std::size_t max,
                               Spectrum<Real>& spectrum) {
  if (first_ < end_ && number_ != frames.number) cancel();
  try {
    if (overlaps()) {
      submit_parts(frames, std::min(wanted, max), std::min(max, frames.size()));
      wait_for_first();
    } else if (first_ == end_ && max > 1 && !alone_) {
      execute_together(frames.views.first(std::min({max, frames.size(), kLongestRun})));
      number_ = frames.number;
    }
  } catch (const std::exception&) {
    cancel();
    alone_ = true;
  }
  if (first_ == done_) return plan_.execute(frames.front(), spectrum, workspace_);
  std::swap(spectrum, spectra_[first_++ % spectra_.size()]);
  ++number_;
}

template <class Real>
void FramePipeline<Real>::execute_together(std::span<const SignalView> frames) {
  fit(frames.size());
  plan_.execute(frames, std::span(spectra_).first(frames.size()), workspace_);
  done_ = end_ = frames.size();
}

template <class Real>
void FramePipeline<Real>::submit(const StreamFrames& frames, std::size_t max) noexcept {
  if (!overlaps()) return;
  max = std::min(max, frames.size());
  submit_parts(frames, 0, max - max % part());
}

template <class Real>
void FramePipeline<Real>::submit_parts(const StreamFrames& frames, std::size_t wanted,
                                       std::size_t max) noexcept {
  if (max == 0 || alone_) return;
  if (first_ < end_ && number_ != frames.number) cancel();
  number_ = frames.number;
  try {
    fill_ring(frames.views, wanted, max);
  } catch (const std::exception&) {
    cancel();
    alone_ = true;
  }
}

template <class Real>
void FramePipeline<Real>::fill_ring(std::span<const SignalView> frames, std::size_t wanted, std::size_t max) {
  if (first_ == end_) {
    if (max < 2) return;  // execute() has less latency for a single frame
    fit(kParts * part());
  }
  while (end_ - first_ < max) {
    const std::size_t known = end_ - first_, size = spectra_.size();
    const std::size_t to_wrap = size - end_ % size;
    std::size_t count = std::min({max - known, size - known, to_wrap, part()});
    // A part of a few frames takes as long as a whole one, so all parts but the last wait for more room.
    if (count < std::min({part(), max - known, to_wrap})) return;
    if (known >= wanted && count < std::min(part(), to_wrap)) return;
    count = submit_part(frames.subspan(known, count));
    if (count == 0) return;
    end_ += count;
  }
}

template <class Real>
void FramePipeline<Real>::prepare(std::span<const SignalView> frames) {
  if (!overlaps()) return;
  cancel();
  fill_ring(frames, frames.size(), frames.size());
  for (Spectrum<Real>& spectrum : spectra_) inside(plan_).prepare(spectrum);
  while (first_ < end_) {
    wait_for_first();
    first_ = done_;
  }
}

/// Returns how many of the frames were submitted.
template <class Real>
std::size_t FramePipeline<Real>::submit_part(std::span<const SignalView> frames) {
  frames = frames.first(usable(frames));
  if (frames.empty()) return 0;
  const PlanImpl<Real>& plan = inside(plan_);
  const std::span<Spectrum<Real>> spectra =
      std::span(spectra_).subspan(end_ % spectra_.size(), frames.size());
  for (Spectrum<Real>& spectrum : spectra) plan.prepare(spectrum);
  WorkspaceImpl& workspace = inside(workspace_);
  workspace.fit(plan.design);
  workspace.fit_threads(plan.design->threads);
  const std::size_t begun = plan.design->executor->submit(frames, spectra, plan.reference.get(),
                                                          *workspace.state, workspace.pool.get());
  return begun;
}

/// Number of frames before the first one that the plan rejects.
template <class Real>
std::size_t FramePipeline<Real>::usable(std::span<const SignalView> frames) const noexcept {
  std::size_t count = 0;
  try {
    for (; count < frames.size(); ++count) inside(plan_).check(frames[count]);
  } catch (const std::exception&) {  // take() reports the error
  }
  return count;
}

template <class Real>
void FramePipeline<Real>::wait_for_first() {
  while (first_ == done_ && first_ < end_) {
    const std::size_t more = inside(plan_).design->executor->wait(*inside(workspace_).state);
    if (more == 0) throw Error(ErrorCode::device, "frames that were under way on the GPU are lost");
    done_ += more;
  }
}

template class FramePipeline<float>;
template class FramePipeline<double>;

}  // namespace sfft::detail
