// SPDX-License-Identifier: Apache-2.0
// The interface that complex and real out-of-core transforms share.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/dense/out_of_core/grouping.hpp"
#include "kernels/dense/out_of_core/load_model.hpp"

namespace sfft::detail {

struct OutOfCoreOptions {
  std::int64_t device_memory = 0;  ///< bytes; 0: all free memory
  double host_share = -1;  ///< host's share of every round, 0 … 1; if negative, the load model chooses it
  int threads = 1;         ///< host threads, in addition to those that drive the streams
  /// The minimum size of a piece that reaches the full speed of the bus; a round uses fewer pieces rather
  /// than smaller ones. Tests set this, and the longest line, to small values.
  std::int64_t min_piece_bytes = 32 << 20;
  std::int64_t longest_line = GroupingLimits{}.longest_line;
  bool in_place = false;  ///< every call is in place
  /// Floats cross the bus in block16. Host threads convert them while they copy to and from page-locked
  /// buffers.
  bool packed = false;
};

/// Arrays are in host memory; spectra are complex values of the type that the plan was made for. Thread-safe:
/// concurrent calls run one after another. All memory is allocated before an array is touched. If a call
/// fails later, the array that it writes is partly transformed.
class OutOfCorePlan {
 public:
  virtual ~OutOfCorePlan() = default;

  /// Bytes of 64-byte aligned host memory that one call needs.
  virtual std::int64_t workspace_bytes() const noexcept = 0;
  virtual void forward(const void* signals, void* spectra, double scale, std::byte* workspace) const = 0;
  virtual void inverse(const void* spectra, void* signals, double scale, std::byte* workspace) const = 0;

  /// Profiles each round on scratch memory, alone and with a few host shares around the predicted one, then
  /// applies the shares that the model finds best. Without a device it only times the host's passes over real
  /// signals.
  virtual void measure() = 0;
  /// The host's share of each step.
  virtual std::vector<double> host_shares() const = 0;
  /// Does nothing if the number of shares differs from the number of steps.
  virtual void set_host_shares(const std::vector<double>& shares) = 0;

  /// What the plan does, with predicted and last measured times: a few lines of text.
  virtual std::string explain() const = 0;
  /// Times of each step in the last call; zeros for steps that the call did not take. Empty before the first
  /// call. For real signals they include the host's passes before and after the steps.
  virtual std::vector<RoundTimes> measured() const = 0;
  /// Predicts a call like the last one. Before any call it assumes out-of-place, page-locked arrays.
  virtual std::vector<RoundTimes> predicted() const = 0;
  virtual std::string name() const = 0;
};

}  // namespace sfft::detail
