// SPDX-License-Identifier: Apache-2.0
// A loss begins with the first frame that has a strong tone outside the template.
#include "bench/trust/tone_losses.hpp"

#include <algorithm>

namespace sfft::trust {

namespace {

/// Measures losses one after the other.
class Losses {
 public:
  explicit Losses(ToneStreamResult& result) : result_(result) {}

  void note(std::int64_t frame, bool lost, bool dense) {
    result_.lost_frames += lost;
    if (lost && began_ < 0) {
      began_ = frame;
      compared_ = -1;
    }
    if (began_ < 0) return;
    if (dense && compared_ < 0) compared_ = frame;
    result_.longest = std::max(result_.longest, frame - began_ + (lost ? 1 : 0));
    if (lost) return;
    result_.since_change.push_back(frame - began_);
    if (compared_ >= 0) result_.since_comparison.push_back(frame - compared_);
    began_ = -1;
  }

 private:
  ToneStreamResult& result_;
  std::int64_t began_ = -1, compared_ = -1;
};

/// The support holds one of each conjugate pair in a real signal.
bool has_all(const std::vector<std::int64_t>& support, const std::vector<std::int64_t>& wanted,
             const Shape& shape, bool real) {
  const auto has = [&](std::int64_t flat) {
    return std::binary_search(support.begin(), support.end(), flat);
  };
  const auto conjugate = [&](std::int64_t flat) {
    const std::int64_t columns = shape.rank() == 2 ? shape[1] : 1;
    const std::int64_t row = flat / columns, column = flat % columns;
    return (shape[0] - row) % shape[0] * columns + (columns - column) % columns;
  };
  return std::ranges::all_of(wanted,
                             [&](std::int64_t flat) { return has(flat) || (real && has(conjugate(flat))); });
}

}  // namespace

ToneStreamResult watch(ChangingTones& stream, std::int64_t frames, const WatchFrame& each) {
  const std::vector<std::byte> first = stream.next();
  const Template tmpl = learn(stream.view(first), stream.learning());
  Tracker<float> tracker(tmpl, stream.tracking());
  ToneStreamResult result;
  result.planned_dense = tracker.plan().info().path == Path::dense;
  Losses losses(result);
  std::vector<std::vector<std::byte>> kept;
  std::vector<SignalView> views;
  std::vector<std::vector<std::int64_t>> wanted;
  for (std::int64_t i = 0; i < frames;) {
    kept.clear();
    views.clear();
    wanted.clear();
    for (std::int64_t j = 0; j < stream.frames_per_push(); ++j) {
      kept.push_back(stream.next());
      wanted.push_back(stream.strong());
    }
    for (const auto& frame : kept) views.push_back(stream.view(frame));
    std::span<const Tracker<float>::Frame> tracked;
    if (views.size() > 1)
      tracked = tracker.push(views);
    else
      tracked = {&tracker.push(views.front()), 1};
    for (std::size_t j = 0; j < tracked.size(); ++j, ++i) {
      const Tracker<float>::Frame& frame = tracked[j];
      const bool dense = frame.action != TrackedFrame::Action::sparse;
      const bool lost =
          !has_all(*frame.spectrum.support, wanted[j], stream.shape(), tmpl.domain() == Domain::real);
      ++result.frames;
      result.dense += dense;
      result.dense_by_plan +=
          frame.action == TrackedFrame::Action::dense && tracker.plan().info().path == Path::dense;
      losses.note(i, lost, dense);
      if (each) each(frame, lost);
    }
  }
  result.relearned = tracker.relearned();
  return result;
}

}  // namespace sfft::trust
