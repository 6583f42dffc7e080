// SPDX-License-Identifier: Apache-2.0
// Computes the similarity of frames from the exact coefficients at the support and the largest coefficients,
// which a renewal has usually learned already.
#include <algorithm>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include "kernels/base/elapsed.hpp"
#include "sfft/tracking/similarity.hpp"
#include "sfft/tracking/tracker_impl.hpp"

namespace sfft::detail {

/// Compares a frame, just transformed densely, with the template. Call before the template is renewed.
template <class Real>
void TrackerImpl<Real>::note_similarity(const SignalView& frame) {
  if (result_.similarity || !result_.spectrum.quality.finite) return;
  if (ahead_.overlaps() && !options_.similarity && !largest_) return begin_similarity(frame);
  const auto start = std::chrono::steady_clock::now();
  const Template& old = plan_.source();
  if (!largest_) {
    LearnOptions how = options_.learn;
    how.threads = options_.plan.threads;
    largest_ = largest_of(frame, old.k(), how);
  }
  if (!largest_) return;
  const std::vector<std::complex<double>> now{result_.spectrum.values.begin(), result_.spectrum.values.end()};
  result_.similarity = similarity({old, renewed_values_, now}, *largest_);
  result_.similarity->us = us_since(start);
}

/// The same on a separate thread. The samples must not change until take_similarities(), which waits for it.
template <class Real>
void TrackerImpl<Real>::begin_similarity(const SignalView& frame) {
  LearnOptions how = options_.learn;
  how.threads = options_.plan.threads;
  std::vector<std::complex<double>> now{result_.spectrum.values.begin(), result_.spectrum.values.end()};
  const auto find = [frame, how, old = plan_.source(), before = renewed_values_,
                     now = std::move(now)]() -> std::optional<TrackedFrame::Similarity> {
    try {
      const std::optional<Template> largest = largest_of(frame, old.k(), how);
      if (largest) return similarity({old, before, now}, *largest);
    } catch (const std::exception&) {  // the frame has its spectrum nevertheless
    }
    return std::nullopt;
  };
  try {
    similar_.push_back({frames_, std::async(std::launch::async, find)});
  } catch (const std::system_error&) {  // thread creation failed
    similar_.push_back({frames_, std::async(std::launch::deferred, find)});
  }
}

/// Waits for similarities in progress and stores them in `results`, the results of this push.
template <class Real>
void TrackerImpl<Real>::take_similarities(std::span<typename Tracker<Real>::Frame> results) {
  for (Similar& similar : std::exchange(similar_, {})) {
    const auto result_of = [&](const typename Tracker<Real>::Frame& result) {
      return result.index == similar.frame;
    };
    const auto at = std::ranges::find_if(results, result_of);
    if (at == results.end()) continue;
    typename Tracker<Real>::Frame& result = *at;
    const auto start = std::chrono::steady_clock::now();
    result.similarity = similar.found.get();
    const double us = us_since(start);
    if (result.similarity) result.similarity->us = us;
    result.us += us;
  }
}

/// The same as note_similarity() for any frame, including one that was transformed sparsely.
template <class Real>
void TrackerImpl<Real>::note_similarity_of_any(const SignalView& frame) {
  if (result_.similarity || !result_.spectrum.quality.finite) return;
  if (result_.action != TrackedFrame::Action::sparse) return note_similarity(frame);
  const auto start = std::chrono::steady_clock::now();
  std::swap(sparse_, result_.spectrum);
  transform_densely(frame);
  note_similarity(frame);
  std::swap(sparse_, result_.spectrum);
  if (result_.similarity) result_.similarity->us = us_since(start);
}

template void TrackerImpl<float>::note_similarity(const SignalView&);
template void TrackerImpl<double>::note_similarity(const SignalView&);
template void TrackerImpl<float>::take_similarities(std::span<Tracker<float>::Frame>);
template void TrackerImpl<double>::take_similarities(std::span<Tracker<double>::Frame>);
template void TrackerImpl<float>::note_similarity_of_any(const SignalView&);
template void TrackerImpl<double>::note_similarity_of_any(const SignalView&);

}  // namespace sfft::detail
