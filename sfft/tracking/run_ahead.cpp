// SPDX-License-Identifier: Apache-2.0
// Keeps the ring of a GPU's workspace full: submits parts whenever it has room, before it waits for the
// current frame's spectrum.
#include "sfft/tracking/run_ahead.hpp"

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
void RunAhead<Real>::use(const Plan<Real>& plan) {
  if (again(plan)) return;
  forget();
  inside(workspace_).fit(inside(plan).design);
  plan_ = plan;
}

/// Transforms the frames that are ahead again, with a plan that has another reference. False: they must be
/// submitted again.
template <class Real>
bool RunAhead<Real>::again(const Plan<Real>& plan) noexcept {
  if (first_ == end_ || !overlaps() || inside(plan).design != inside(plan_).design) return false;
  try {
    const std::size_t count = inside(plan).design->device->again(
        spectra_[first_ % spectra_.size()], inside(plan).device_reference.get(), *inside(workspace_).device);
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
std::size_t RunAhead<Real>::part() const noexcept {
  const auto& device = inside(plan_).design->device;
  return device ? device->part_ahead() : 0;
}

template <class Real>
bool RunAhead<Real>::overlaps() const noexcept {
  return part() > 0;
}

template <class Real>
void RunAhead<Real>::forget() noexcept {
  if (done_ < end_) inside(plan_).design->device->abandon(*inside(workspace_).device);
  first_ = done_ = end_ = 0;
}

template <class Real>
void RunAhead<Real>::collect() noexcept {
  const DevicePlan<Real>* const device = inside(plan_).design->device.get();
  try {
    while (done_ < end_ && device->ready(*inside(workspace_).device))
      done_ += device->finish(*inside(workspace_).device);
  } catch (const std::exception&) {
    forget();
    alone_ = true;
  }
}

/// Allocates the ring. Call only while nothing is ahead.
template <class Real>
void RunAhead<Real>::fit(std::size_t spectra) {
  first_ = done_ = end_ = 0;
  if (spectra_.size() >= spectra) return;
  spectra_.resize(spectra);
  owners_.resize(spectra);
}

template <class Real>
void RunAhead<Real>::take(std::span<const SignalView> frames, std::size_t wanted, std::size_t max,
                          Spectrum<Real>& spectrum) {
  if (first_ < end_ && owner(first_) != frames[0].data()) forget();
  try {
    if (overlaps()) {
      begin_parts(frames, std::min(wanted, max), std::min(max, frames.size()));
      await_first();
    } else if (first_ == end_ && max > 1 && !alone_) {
      execute_together(frames.first(std::min({max, frames.size(), kLongestRun})));
    }
  } catch (const std::exception&) {
    forget();
    alone_ = true;
  }
  if (first_ < done_) return std::swap(spectrum, spectra_[first_++ % spectra_.size()]);
  plan_.execute(frames[0], spectrum, workspace_);
}

template <class Real>
void RunAhead<Real>::execute_together(std::span<const SignalView> frames) {
  fit(frames.size());
  plan_.execute(frames, std::span(spectra_).first(frames.size()), workspace_);
  for (std::size_t i = 0; i < frames.size(); ++i) owner(i) = frames[i].data();
  done_ = end_ = frames.size();
}

template <class Real>
void RunAhead<Real>::begin(std::span<const SignalView> frames, std::size_t max) noexcept {
  if (!overlaps()) return;
  max = std::min(max, frames.size());
  begin_parts(frames, 0, max - max % part());
}

template <class Real>
void RunAhead<Real>::begin_parts(std::span<const SignalView> frames, std::size_t wanted,
                                 std::size_t max) noexcept {
  if (max == 0 || alone_) return;
  if (first_ < end_ && owner(first_) != frames[0].data()) forget();
  try {
    fill_ring(frames, wanted, max);
  } catch (const std::exception&) {
    forget();
    alone_ = true;
  }
}

template <class Real>
void RunAhead<Real>::fill_ring(std::span<const SignalView> frames, std::size_t wanted, std::size_t max) {
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
    count = begin_part(frames.subspan(known, count));
    if (count == 0) return;
    end_ += count;
  }
}

template <class Real>
void RunAhead<Real>::prepare(std::span<const SignalView> frames) {
  if (!overlaps()) return;
  forget();
  fill_ring(frames, frames.size(), frames.size());
  for (Spectrum<Real>& spectrum : spectra_) inside(plan_).prepare(spectrum);
  while (first_ < end_) {
    await_first();
    first_ = done_;
  }
}

/// Returns how many of the frames were submitted.
template <class Real>
std::size_t RunAhead<Real>::begin_part(std::span<const SignalView> frames) {
  frames = frames.first(usable(frames));
  if (frames.empty()) return 0;
  const PlanImpl<Real>& plan = inside(plan_);
  const std::span<Spectrum<Real>> spectra =
      std::span(spectra_).subspan(end_ % spectra_.size(), frames.size());
  for (Spectrum<Real>& spectrum : spectra) plan.prepare(spectrum);
  WorkspaceImpl& workspace = inside(workspace_);
  workspace.fit(plan.design);
  workspace.fit_threads(plan.design->threads);
  const std::size_t begun = plan.design->device->begin(frames, spectra, plan.device_reference.get(),
                                                       *workspace.device, workspace.pool.get());
  for (std::size_t i = 0; i < begun; ++i) owner(end_ + i) = frames[i].data();
  return begun;
}

/// Number of frames before the first one that the plan rejects.
template <class Real>
std::size_t RunAhead<Real>::usable(std::span<const SignalView> frames) const noexcept {
  std::size_t count = 0;
  try {
    for (; count < frames.size(); ++count) inside(plan_).check(frames[count]);
  } catch (const std::exception&) {  // take() reports the error
  }
  return count;
}

template <class Real>
void RunAhead<Real>::await_first() {
  while (first_ == done_ && first_ < end_) {
    const std::size_t more = inside(plan_).design->device->finish(*inside(workspace_).device);
    if (more == 0) throw Error(ErrorCode::device, "frames that were under way on the GPU are lost");
    done_ += more;
  }
}

template class RunAhead<float>;
template class RunAhead<double>;

}  // namespace sfft::detail
