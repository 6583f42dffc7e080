// SPDX-License-Identifier: Apache-2.0
// The interface of every GPU path: batches of frames in, coefficients with error estimates out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/stages/binning.hpp"
#include "kernels/cuda/stages/row_set.hpp"
#include "kernels/cuda/stages/samples.hpp"

namespace sfft::detail::cuda {

/// At most `max` frames of a batch, starting at frame `first`; `k` results per frame.
template <class Real>
Batch<Real> part_of(const Batch<Real>& batch, int first, int max, std::int64_t k) {
  Batch<Real> part = batch;
  const auto bytes = static_cast<std::int64_t>(element_size(batch.type));
  part.count = std::min(max, batch.count - first);
  part.frames = static_cast<const std::byte*>(batch.frames) + first * batch.frame_pitch * bytes;
  part.values += first * k;
  part.standard_error += first * k;
  part.errors += first;
  return part;
}

/// Device memory and handles of one thread's launches, for up to `frames` frames at a time.
struct State {
  virtual ~State() = default;
  DeviceBuffer scratch;
  int frames = 0;
};

/// One path for one plan. Immutable; launches are thread-safe with one state per thread or stream.
template <class Real>
class Executor {
 public:
  virtual ~Executor() = default;

  /// For batches of `frames`. A path that needs much memory may allocate for fewer and work in rounds. Throws
  /// Error(out_of_memory).
  virtual std::unique_ptr<State> make_state(int frames) const = 0;
  /// Whether this executor can reuse a state that another executor on this device made, instead of calling
  /// make_state().
  virtual bool takes(const State& /*state*/, int /*frames*/) const { return false; }

  /// Launches the transform of a batch of whole frames. Stream-ordered; never allocates or synchronises; can
  /// be captured. Throws Error(device) if a launch fails.
  virtual void enqueue(const Batch<Real>& batch, State& state, Stream stream) const = 0;

  /// The samples that the path reads, as linear indices in the order of a compact frame. Empty: the path
  /// reads all samples, and enqueue_compact() must not be called.
  virtual const std::vector<std::int64_t>& sample_indices() const {
    static const std::vector<std::int64_t> none;
    return none;
  }
  /// Like enqueue(), but on compact frames.
  virtual void enqueue_compact(const Batch<Real>&, State&, Stream) const {}
  /// The rows that hold the samples, if the path can read frames made of just those rows; otherwise empty,
  /// and enqueue_rows() must not be called.
  virtual const RowSet& row_set() const noexcept {
    static const RowSet none;
    return none;
  }
  /// Launches a kernel that copies the rows and the witness's samples of page-locked frames (device-visible
  /// addresses) to compact frames of row_set().
  virtual void fetch_rows(const void* /*frames*/, std::size_t /*element*/, int /*count*/, void* /*compact*/,
                          Stream /*stream*/) const {}
  /// Like enqueue(), but on the compact frames of row_set().
  virtual void enqueue_rows(const Batch<Real>&, State&, Stream) const {}
  /// The number of samples per stream; 0: the path is exact without a reference. sample_indices() holds whole
  /// streams, then the witness's samples.
  virtual std::int64_t taps() const noexcept { return 0; }
  virtual std::int64_t witness_samples() const noexcept { return 0; }
  /// The number of complex numbers in the samples of a reference; 0 if taps() is 0.
  virtual std::int64_t reference_points() const noexcept { return 0; }
  /// Launches kernels that read a reference's samples and the kWitnessReals of its witness from a
  /// device-visible frame. Stream-ordered; allocates from the pool. Only if reference_points() > 0.
  virtual void read_reference(const void* /*frame*/, Element /*type*/, Complex<Real>* /*samples*/,
                              Real* /*witness*/, Stream /*stream*/) const {}

  virtual std::string describe() const = 0;  ///< "fused, 4 blocks of 256 threads"
};

}  // namespace sfft::detail::cuda
