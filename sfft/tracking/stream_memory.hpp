// SPDX-License-Identifier: Apache-2.0
// Remembers a frame that a tracker has transformed densely, to see whether frames repeat.
#pragma once

#include <complex>
#include <cstddef>
#include <future>
#include <span>
#include <vector>

#include "kernels/base/types.hpp"

namespace sfft::detail {

class StreamMemory {
 public:
  StreamMemory() = default;
  ~StreamMemory() { forget_begun(); }
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;

  bool empty() const noexcept { return frame_.empty(); }
  /// Keeps a copy of the samples and of the exact coefficients at the support.
  void keep(const SignalView& frame, std::span<const std::complex<double>> values);
  void forget() {
    forget_begun();
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

  /// Begins, on a thread of its own, with what change() to this frame takes most of its time for; nothing
  /// while another is under way. The samples must stay what they are until change(), keep_only() without the
  /// frame or forget_begun() returns.
  void begin(const SignalView& frame) noexcept;
  void keep_only(std::span<const SignalView> frames) noexcept;
  /// Waits for what is under way.
  void forget_begun() noexcept;

 private:
  double distance_to(const SignalView& frame) const;

  ElementType type_ = ElementType::u8;
  std::vector<std::byte> frame_;
  std::vector<std::complex<double>> values_;
  const void* begun_ = nullptr;  ///< samples of the frame whose distance is under way
  std::future<double> distance_;
};

}  // namespace sfft::detail
