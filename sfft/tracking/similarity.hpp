// SPDX-License-Identifier: Apache-2.0
// How similar a new frame's spectrum is to an old template.
#pragma once

#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/runtime/elapsed.hpp"
#include "sfft/tracker.hpp"

namespace sfft::detail {

/// The exact coefficients of two frames at the support of `old`.
struct OldSupport {
  const Template& old;
  std::span<const std::complex<double>> before;  ///< frame that `old` was renewed from; empty: unknown
  std::span<const std::complex<double>> now;     ///< new frame
};

/// Computes what TrackedFrame::Similarity defines. `largest` holds the k largest coefficients of the new
/// frame, learned densely, where k is that of the old template.
TrackedFrame::Similarity similarity(const OldSupport& coefficients, const Template& largest);

/// Similarities of frames that caused a renewal, computed on other threads.
class PendingSimilarities {
 public:
  using Found = std::optional<TrackedFrame::Similarity>;

  /// Starts `find` for the frame of this number. The frame's samples must not change until give() or
  /// forget().
  void begin(std::int64_t frame, const std::function<Found()>& find);
  /// Waits for all, and stores them in those of the results that have their frame's number.
  template <class Result>
  void give(std::span<Result> results) {
    for (Pending& pending : std::exchange(pending_, {})) {
      const auto at = std::ranges::find(results, pending.frame, &Result::index);
      if (at == results.end()) continue;
      const auto start = std::chrono::steady_clock::now();
      at->similarity = pending.found.get();
      const double us = us_since(start);
      if (at->similarity) at->similarity->us = us;
      at->us += us;
    }
  }
  /// Waits for all and discards them.
  void forget() { pending_.clear(); }

 private:
  struct Pending {
    std::int64_t frame;
    std::future<Found> found;
  };
  std::vector<Pending> pending_;
};

/// The k largest coefficients of a frame, learned on the device and with the threads of `how`. Empty if the
/// frame has NaN or powers beyond double precision.
std::optional<Template> largest_of(const SignalView& frame, std::int64_t k, const LearnOptions& how);

}  // namespace sfft::detail
