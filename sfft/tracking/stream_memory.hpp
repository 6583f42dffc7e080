// SPDX-License-Identifier: Apache-2.0
// Remembers a frame that a tracker has transformed densely, to see whether frames repeat.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <future>
#include <span>
#include <vector>

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
    double support = 0;  ///< Σ|ΔX|² over the support, both halves of a real signal's
    double outside = 0;  ///< Σ|ΔX|² over the rest of the spectrum
  };
  /// The change from the kept frame to this one, whose exact coefficients are `values`; `multiplicity` is 2
  /// where the spectrum holds a distinct conjugate. The frames have one shape; if their types differ,
  /// everything counts as changed.
  Change change(const SignalView& frame, std::span<const std::complex<double>> values,
                std::span<const double> multiplicity);

  /// Begins, on another thread, with what change() to this frame takes most of its time for; nothing
  /// while many are under way. The samples must stay what they are until change(), keep_only() without the
  /// frame or settle() returns.
  void begin(const SignalView& frame) noexcept;
  /// Starts the threads that begin() and keep() would start.
  void prepare() noexcept;
  /// Nobody asks for the change to other frames than these any more: waits for what is under way with others.
  void keep_only(std::span<const SignalView> frames) noexcept;
  /// Waits for all that is under way and forgets distances.
  void settle() noexcept;

 private:
  /// A distance that is being worked out.
  struct Pending {
    const void* samples;
    bool from_original;  ///< reads the kept frame where it came from
    std::future<double> distance;
  };

  Worker& next_worker() noexcept { return workers_[turn_++ % workers_.size()]; }
  void await_copy() noexcept;
  double distance(const SignalView& frame, const std::byte* kept) const;
  double distance_to(const SignalView& frame);

  ElementType type_ = ElementType::u8;
  std::vector<std::byte> frame_;
  const std::byte* original_ = nullptr;  ///< the samples that frame_ is being copied from; null: nowhere
  std::vector<std::complex<double>> values_;
  std::future<void> copied_;  ///< the copy from original_
  std::vector<Pending> pending_;
  std::array<Worker, 3> workers_{Worker(kAwake), Worker(kAwake), Worker(kAwake)};
  std::size_t turn_ = 0;
};

}  // namespace sfft::detail
