// SPDX-License-Identifier: Apache-2.0
// What complex and real out-of-core transforms have in common.
#pragma once

#include <complex>
#include <cstddef>
#include <string>
#include <vector>

#include "kernels/dense/out_of_core/grouping.hpp"
#include "kernels/dense/out_of_core/load_model.hpp"

namespace sfft::detail {

struct OutOfCoreOptions {
  std::size_t device_memory = 0;  ///< bytes; 0: what is free
  double host_share = -1;         ///< of every round, 0 … 1; negative: by the load model
  int threads = 1;                ///< of the host, besides those that attend to the streams
  /// Smaller pieces do not reach the full speed of the bus: a round has fewer pieces then. Tests make it
  /// small, and lines, too.
  std::size_t min_piece_bytes = std::size_t{32} << 20;
  std::int64_t longest_line = GroupingLimits{}.longest_line;
  bool in_place = false;  ///< all calls are
  /// Floats cross the bus in block16: threads of the host convert them on their way through page-locked
  /// buffers.
  bool packed = false;
};

/// Arrays are in host memory. Thread-safe: calls take turns. If a call fails, what it writes to is partly
/// transformed; memory for it is allocated before an array is touched.
template <class Real>
class OutOfCorePlan {
 public:
  virtual ~OutOfCorePlan() = default;

  /// Bytes of 64-byte aligned host memory for one call.
  virtual std::size_t workspace_bytes() const noexcept = 0;
  virtual void forward(const void* signals, std::complex<Real>* spectra, Real scale,
                       std::byte* workspace) const = 0;
  virtual void inverse(const std::complex<Real>* spectra, void* signals, Real scale,
                       std::byte* workspace) const = 0;

  /// Profiling runs of each round, alone and with a few shares around the predicted one, on scratch memory;
  /// then partitions by the best shares of the model. Without a device it only times the host's passes of
  /// real signals.
  virtual void measure() = 0;
  /// The host's share of each step.
  virtual std::vector<double> host_shares() const = 0;
  /// Does nothing if there are not as many as steps.
  virtual void set_host_shares(const std::vector<double>& shares) = 0;

  /// What the plan does, and predicted and last measured times: a few lines of text.
  virtual std::string explain() const = 0;
  /// Each step's times in the last call, zeros where it took another one; empty before there was a call. Of
  /// real signals with those of the host's passes before and after the steps.
  virtual std::vector<RoundTimes> measured() const = 0;
  /// For a call like the last one or, before any call, for one with another array for the results, both
  /// page-locked.
  virtual std::vector<RoundTimes> predicted() const = 0;
  virtual std::string name() const = 0;
};

}  // namespace sfft::detail
