// SPDX-License-Identifier: Apache-2.0
// The results of a push of several frames, and the time that its frames share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "sfft/tracker.hpp"

namespace sfft::detail {

template <class Real>
class PushResults {
 public:
  using Frame = typename Tracker<Real>::Frame;

  /// Begins a push of several frames. `coming`: the frames after them, as far as they are known.
  void begin(std::span<const SignalView> frames, std::span<const SignalView> coming) {
    known_.assign(frames.begin(), frames.end());
    known_.insert(known_.end(), coming.begin(), coming.end());
    pushed_ = frames.size();
    done_ = 0;
    reserve(pushed_);
  }
  bool finished() const noexcept { return done_ == pushed_; }
  /// The next frame, and all known frames after it.
  std::span<const SignalView> next() const noexcept { return std::span(known_).subspan(done_); }
  /// Makes room for the results of `frames` frames.
  void reserve(std::size_t frames) { results_.resize(std::max(results_.size(), frames)); }
  /// All entries.
  std::span<Frame> room() noexcept { return results_; }
  /// Those of the frames that are done.
  std::span<Frame> done() noexcept { return std::span(results_).first(done_); }
  std::span<const Frame> done() const noexcept { return std::span(results_).first(done_); }
  /// Frames of the push that are not done; 1 for a push of a single frame, which is not counted here.
  std::size_t left() const noexcept { return finished() ? 1 : pushed_ - done_; }
  /// Swaps the result of a frame with the next entry.
  void take(Frame& result) noexcept {
    std::swap(results_[done_], result);
    result.calibration = results_[done_].calibration;  // carried over to frames without a sparse transform
    ++done_;
  }

  /// Adds time of sparse transforms, which is not yet assigned to frames.
  void add_time(double us) noexcept { shared_us_ += us; }
  double shared_us() const noexcept { return shared_us_; }
  /// The next frame to be done shares this time.
  void share_time() { sharing_.push_back(done_); }
  /// Divides the time equally among the frames that share it. It includes time that was spent on them before
  /// the push.
  void divide_time() {
    if (sharing_.empty()) return;
    const double each = shared_us_ / static_cast<double>(sharing_.size());
    for (const std::size_t i : sharing_) {
      if (i < done_) results_[i].us += each;
    }
    static_cast<void>(take_time());
  }
  /// Returns all of the time, and ends the sharing.
  double take_time() noexcept {
    sharing_.clear();
    return std::exchange(shared_us_, 0);
  }

 private:
  std::vector<SignalView> known_;
  std::vector<Frame> results_;
  std::size_t done_ = 0, pushed_ = 0;
  double shared_us_ = 0;
  std::vector<std::size_t> sharing_;
};

}  // namespace sfft::detail
