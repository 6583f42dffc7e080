// SPDX-License-Identifier: Apache-2.0
// Keeps a frame that a tracker has transformed densely, to find out whether frames repeat.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <future>
#include <span>
#include <vector>

#include "kernels/runtime/memory_budget.hpp"
#include "sfft/tracking/worker.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

class StreamMemory {
 public:
  StreamMemory() = default;
  ~StreamMemory() { settle(); }
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;

  bool empty() const noexcept { return frame_.empty(); }
  /// Keeps a copy of the samples and of the exact coefficients at the support. `in_background`: copies large
  /// frames on a separate thread; the samples must then stay unchanged until settle(), keep_only() or another
  /// keep() returns.
  void keep(const SignalView& frame, std::span<const std::complex<double>> values,
            bool in_background = false);
  void forget() {
    settle();
    frame_.clear();
  }

  struct Change {
    double support = 0;  ///< Σ|ΔX|² over the support; both halves of a real signal's spectrum count
    double outside = 0;  ///< Σ|ΔX|² over the rest of the spectrum
  };
  /// The change from the kept frame to this one, whose exact coefficients are `values`. `number`: as given to
  /// begin(). `multiplicity` is 2
  /// where the spectrum contains a distinct conjugate. The frames must have the same shape. If their types or
  /// numbers of coefficients differ, both energies are infinite.
  Change change(const SignalView& frame, std::int64_t number, std::span<const std::complex<double>> values,
                std::span<const double> multiplicity);

  /// Starts the slow part of change() to this frame, the distance of the samples, on another thread. Does
  /// nothing while six are in progress. `number`: of the frame in the stream. The samples must not change
  /// until change(), settle() or a keep_only() without this frame returns.
  void begin(const SignalView& frame, std::int64_t number) noexcept;
  /// Starts the threads that begin() and keep() would start.
  void prepare() noexcept;
  /// Discards distances to all frames but those numbered from `first` to end − 1; waits for those in
  /// progress.
  void keep_only(std::int64_t first, std::int64_t end) noexcept;
  /// Waits for all background work and discards its distances.
  void settle() noexcept;

 private:
  /// A distance that another thread computes.
  struct Pending {
    std::int64_t number;  ///< of the frame in the stream
    bool from_original;   ///< reads the kept frame from its original samples, not from the copy
    std::future<double> distance;
  };

  Worker& next_worker() noexcept { return workers_[turn_++ % workers_.size()]; }
  void await_copy() noexcept;
  double distance(const SignalView& frame, const std::byte* kept) const;
  double distance_to(const SignalView& frame);

  ElementType type_ = ElementType::u8;
  CountedVector<std::byte> frame_;
  const std::byte* original_ =
      nullptr;  ///< samples that are being copied to frame_; null: no copy in progress
  std::vector<std::complex<double>> values_;
  std::future<void> copied_;  ///< the copy from original_
  std::vector<Pending> pending_;
  std::array<Worker, 3> workers_{Worker(kAwake), Worker(kAwake), Worker(kAwake)};
  std::size_t turn_ = 0;
};

}  // namespace sfft::detail
