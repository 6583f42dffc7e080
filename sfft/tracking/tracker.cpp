// SPDX-License-Identifier: Apache-2.0
// The public tracker. Rejects moved-from trackers and calls from two threads; forwards all other calls.
#include "sfft/tracker.hpp"

#include <utility>

#include "kernels/runtime/exclusive.hpp"
#include "kernels/runtime/trace.hpp"
#include "sfft/error.hpp"
#include "sfft/tracking/tracker_impl.hpp"

namespace sfft {

namespace {
constexpr const char* kInUse =
    "the tracker is in use by another thread: frames come in order, so push them from one";

detail::TrackerState& present(const std::shared_ptr<detail::TrackerState>& state) {
  if (state == nullptr) {
    throw Error(ErrorCode::invalid_argument,
                "the tracker was moved from: use the one it went to, or make another from a template");
  }
  return *state;
}
template <class Real>
detail::TrackerImpl<Real>& present(const std::shared_ptr<detail::TrackerState>& state) {
  return static_cast<detail::TrackerImpl<Real>&>(present(state));
}
}  // namespace

const char* to_string(TrackedFrame::Action action) noexcept {
  switch (action) {
    case TrackedFrame::Action::sparse:
      return "sparse";
    case TrackedFrame::Action::refreshed:
      return "refreshed";
    case TrackedFrame::Action::relearned:
      return "relearned";
    case TrackedFrame::Action::dense:
      return "dense";
    case TrackedFrame::Action::calibrated:
      return "calibrated";
  }
  return "unknown";
}

template <class Real>
void Tracker<Real>::prepare(const SignalView& like) {
  detail::TrackerImpl<Real>& own = present<Real>(state_);
  const detail::Exclusive exclusive(own.in_use, kInUse);
  const detail::TraceRange range("tracker: prepare");
  own.prepare(like);
}
template <class Real>
const typename Tracker<Real>::Frame& Tracker<Real>::push(const SignalView& frame) {
  detail::TrackerImpl<Real>& own = present<Real>(state_);
  const detail::Exclusive exclusive(own.in_use, kInUse);
  const detail::TraceRange range("tracker: push");
  return own.push(frame);
}
template <class Real>
std::span<const typename Tracker<Real>::Frame> Tracker<Real>::push(std::span<const SignalView> frames,
                                                                   std::span<const SignalView> coming) {
  detail::TrackerImpl<Real>& own = present<Real>(state_);
  const detail::Exclusive exclusive(own.in_use, kInUse);
  const detail::TraceRange range("tracker: push");
  return own.push(frames, coming);
}
template <class Real>
std::span<const typename Tracker<Real>::Frame> Tracker<Real>::results() const {
  return present<Real>(state_).results();
}
template <class Real>
const Plan<Real>& Tracker<Real>::plan() const {
  return present<Real>(state_).plan();
}

namespace detail {

std::shared_ptr<TrackerState> AnyTracker::make(const Template& tmpl, const TrackerOptions& options,
                                               bool single) {
  if (single) return std::make_shared<TrackerImpl<float>>(tmpl, options);
  return std::make_shared<TrackerImpl<double>>(tmpl, options);
}

const Template& AnyTracker::current_template() const {
  return present(state_).current_template();
}
const std::string& AnyTracker::refinement() const {
  return present(state_).refinement();
}
AnyTracker::Counts AnyTracker::counts() const noexcept {
  return state_ == nullptr ? Counts{} : state_->counts;
}

}  // namespace detail

template class Tracker<float>;
template class Tracker<double>;

}  // namespace sfft
