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

template <class Impl>
Impl& present(const std::unique_ptr<Impl>& impl) {
  if (impl == nullptr) {
    throw Error(ErrorCode::invalid_argument,
                "the tracker was moved from: use the one it went to, or make another from a template");
  }
  return *impl;
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
Tracker<Real>::Tracker(const Template& tmpl, const TrackerOptions& options)
    : impl_(std::make_unique<detail::TrackerImpl<Real>>(tmpl, options)) {}
template <class Real>
Tracker<Real>::~Tracker() = default;
template <class Real>
Tracker<Real>::Tracker(Tracker&&) noexcept = default;
template <class Real>
Tracker<Real>& Tracker<Real>::operator=(Tracker&&) noexcept = default;

template <class Real>
void Tracker<Real>::prepare(const SignalView& like) {
  detail::TrackerImpl<Real>& own = present(impl_);
  const detail::Exclusive exclusive(own.in_use, kInUse);
  const detail::TraceRange range("tracker: prepare");
  own.prepare(like);
}
template <class Real>
const typename Tracker<Real>::Frame& Tracker<Real>::push(const SignalView& frame) {
  detail::TrackerImpl<Real>& own = present(impl_);
  const detail::Exclusive exclusive(own.in_use, kInUse);
  const detail::TraceRange range("tracker: push");
  return own.push(frame);
}
template <class Real>
std::span<const typename Tracker<Real>::Frame> Tracker<Real>::push(std::span<const SignalView> frames,
                                                                   std::span<const SignalView> coming) {
  detail::TrackerImpl<Real>& own = present(impl_);
  const detail::Exclusive exclusive(own.in_use, kInUse);
  const detail::TraceRange range("tracker: push");
  return own.push(frames, coming);
}
template <class Real>
std::span<const typename Tracker<Real>::Frame> Tracker<Real>::results() const {
  return present(impl_).results();
}
template <class Real>
const Template& Tracker<Real>::current_template() const {
  return present(impl_).plan().source();
}
template <class Real>
const Plan<Real>& Tracker<Real>::plan() const {
  return present(impl_).plan();
}
template <class Real>
std::int64_t Tracker<Real>::refreshed() const noexcept {
  return impl_ == nullptr ? 0 : impl_->counts.refreshed;
}
template <class Real>
std::int64_t Tracker<Real>::relearned() const noexcept {
  return impl_ == nullptr ? 0 : impl_->counts.relearned;
}
template <class Real>
std::int64_t Tracker<Real>::dense_fallbacks() const noexcept {
  return impl_ == nullptr ? 0 : impl_->counts.dense;
}

template <class Real>
std::int64_t Tracker<Real>::calibrated() const noexcept {
  return impl_ == nullptr ? 0 : impl_->counts.calibrated;
}

template <class Real>
std::int64_t Tracker<Real>::refined() const noexcept {
  return impl_ == nullptr ? 0 : impl_->counts.refined;
}

template <class Real>
const std::string& Tracker<Real>::refinement() const {
  return present(impl_).refinement();
}

template class Tracker<float>;
template class Tracker<double>;

}  // namespace sfft
