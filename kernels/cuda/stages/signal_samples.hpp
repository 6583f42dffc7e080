// SPDX-License-Identifier: Apache-2.0
// Reads a few samples of a signal in GPU memory into host memory, and waits for them.
#pragma once

#include <cstddef>

#include "kernels/base/tables/sample_set.hpp"
#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Up to this many stream offsets are kernel parameters; more are read through `offsets`.
constexpr int kOffsetsInLaunch = 32;

/// Gathers a set of samples of a signal in GPU memory: stage "permute" for patterns that are redrawn every
/// time. Writes the real and imaginary parts of the set to re[] and im[] as numbers of `Real`. `signal`, `re`
/// and `im` are device addresses (mapped host memory works). So is set.offsets if the set has more than
/// kOffsetsInLaunch streams; otherwise it is a host address.
template <class Real>
void launch_read_set(const void* signal, Element type, const SampleSet& set, Real* re, Real* im,
                     Stream stream);

/// Page-locked memory on loan from a few blocks that the process keeps, because allocating one takes longer
/// than all rounds of a discovery. Thread-safe.
class PinnedLoan {
 public:
  PinnedLoan() = default;
  ~PinnedLoan() { give_back(); }
  PinnedLoan(const PinnedLoan&) = delete;
  PinnedLoan& operator=(const PinnedLoan&) = delete;

  /// Returns at least `bytes` bytes; old contents are lost.
  std::byte* fit(std::size_t bytes);

 private:
  void give_back() noexcept;
  PinnedBuffer block_;
};

/// Reads one signal in stream order; `signal` is an address that kernels of `device` can read. Throws
/// Error(backend_unavailable, invalid_argument, out_of_memory, device). One thread at a time.
class SignalSamples {
 public:
  SignalSamples(const void* signal, Element type, int device, Stream stream);

  /// Reads the set to re[] and im[] in host memory; the set's offsets are in host memory too. Blocks.
  template <class Real>
  void read(const SampleSet& set, Real* re, Real* im);

 private:
  const void* signal_;
  Element type_;
  int device_;
  Stream stream_;
  PinnedLoan loan_;
};

}  // namespace sfft::detail::cuda
