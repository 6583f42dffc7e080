// SPDX-License-Identifier: Apache-2.0
// Computes the similarity of frames from the exact coefficients at the support and the largest coefficients,
// which a renewal has usually learned already.
#include <chrono>
#include <exception>
#include <utility>

#include "kernels/base/elapsed.hpp"
#include "sfft/tracking/similarity.hpp"
#include "sfft/tracking/tracker_impl.hpp"

namespace sfft::detail {

/// Compares a frame, just transformed densely, with the template. Call before the template is renewed.
template <class Real>
void TrackerImpl<Real>::note_similarity(const SignalView& frame) {
  if (frame_.result.similarity || !frame_.result.spectrum.quality.finite) return;
  if (ahead_.overlaps() && !options_.similarity && !frame_.largest) return begin_similarity(frame);
  const auto start = std::chrono::steady_clock::now();
  const Template& old = plan_.source();
  if (!frame_.largest) {
    LearnOptions how = options_.learn;
    how.threads = options_.plan.threads;
    frame_.largest = largest_of(frame, old.k(), how);
  }
  if (!frame_.largest) return;
  const std::vector<std::complex<double>> now = in_double(frame_.result.spectrum);
  frame_.result.similarity = similarity({old, frame_.renewed, now}, *frame_.largest);
  frame_.result.similarity->us = us_since(start);
}

/// The same on a separate thread. The samples must not change until the similarities are given.
template <class Real>
void TrackerImpl<Real>::begin_similarity(const SignalView& frame) {
  LearnOptions how = options_.learn;
  how.threads = options_.plan.threads;
  similarities_.begin(frame_.number,
                      [frame, how, old = plan_.source(), before = frame_.renewed,
                       now = in_double(frame_.result.spectrum)]() -> PendingSimilarities::Found {
                        try {
                          const std::optional<Template> largest = largest_of(frame, old.k(), how);
                          if (largest) return similarity({old, before, now}, *largest);
                        } catch (const std::exception&) {  // the frame has its spectrum nevertheless
                        }
                        return std::nullopt;
                      });
}

/// The same as note_similarity() for any frame, including one that was transformed sparsely.
template <class Real>
void TrackerImpl<Real>::note_similarity_of_any(const SignalView& frame) {
  if (frame_.result.similarity || !frame_.result.spectrum.quality.finite) return;
  if (frame_.result.action != TrackedFrame::Action::sparse) return note_similarity(frame);
  const auto start = std::chrono::steady_clock::now();
  std::swap(frame_.sparse, frame_.result.spectrum);
  transform_densely(frame);
  note_similarity(frame);
  std::swap(frame_.sparse, frame_.result.spectrum);
  if (frame_.result.similarity) frame_.result.similarity->us = us_since(start);
}

template void TrackerImpl<float>::note_similarity(const SignalView&);
template void TrackerImpl<double>::note_similarity(const SignalView&);
template void TrackerImpl<float>::note_similarity_of_any(const SignalView&);
template void TrackerImpl<double>::note_similarity_of_any(const SignalView&);

}  // namespace sfft::detail
