// SPDX-License-Identifier: Apache-2.0
// When a tracker works out the similarity of a frame, and from what: the exact coefficients at the support,
// and the largest ones, which a renewal has mostly learned already.
#include <chrono>

#include "sfft/tracking/similarity.hpp"
#include "sfft/tracking/tracker_impl.hpp"

namespace sfft::detail {

namespace {

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

}  // namespace

/// Compares a frame that has just been transformed densely with the template, before that is renewed.
template <class Real>
void TrackerImpl<Real>::note_similarity(const SignalView& frame) {
  if (result_.similarity || !result_.spectrum.finite) return;
  const auto start = Clock::now();
  const Template& old = plan_.source();
  if (!largest_) {
    LearnOptions how = options_.learn;
    how.threads = options_.plan.threads;
    largest_ = largest_of(frame, old.k(), how);
  }
  if (!largest_) return;
  const std::vector<std::complex<double>> now{result_.spectrum.values.begin(), result_.spectrum.values.end()};
  result_.similarity = similarity({old, renewed_values_, now}, *largest_);
  result_.similarity->us = microseconds_since(start);
}

/// The same for a frame that was not renewed, and may have been transformed sparsely.
template <class Real>
void TrackerImpl<Real>::note_similarity_of_any(const SignalView& frame) {
  if (result_.similarity || !result_.spectrum.finite) return;
  if (result_.action != TrackAction::sparse) return note_similarity(frame);
  const auto start = Clock::now();
  std::swap(sparse_, result_.spectrum);
  transform_densely(frame);
  note_similarity(frame);
  std::swap(sparse_, result_.spectrum);
  if (result_.similarity) result_.similarity->us = microseconds_since(start);
}

template void TrackerImpl<float>::note_similarity(const SignalView&);
template void TrackerImpl<double>::note_similarity(const SignalView&);
template void TrackerImpl<float>::note_similarity_of_any(const SignalView&);
template void TrackerImpl<double>::note_similarity_of_any(const SignalView&);

}  // namespace sfft::detail
