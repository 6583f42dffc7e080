// SPDX-License-Identifier: Apache-2.0
// The interface of every GPU path: batches of frames in, coefficients with errors and accounts out.
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

/// At most `most` frames of a batch, from frame `first` on; `k` results per frame.
template <class Real>
Batch<Real> part_of(const Batch<Real>& batch, int first, int most, std::int64_t k) {
  Batch<Real> part = batch;
  const auto bytes = static_cast<std::int64_t>(element_size(batch.type));
  part.count = std::min(most, batch.count - first);
  part.frames = static_cast<const std::byte*>(batch.frames) + first * batch.frame_pitch * bytes;
  part.values += first * k;
  part.standard_error += first * k;
  part.accounts += first;
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

  /// For batches of `frames`; a path that needs much memory may make room for fewer and work in rounds.
  /// Throws Error(out_of_memory).
  virtual std::unique_ptr<State> make_state(int frames) const = 0;
  /// Whether make_state() would make the like of a state that another executor of the device made: it can be
  /// this one's, then, and no memory is allocated.
  virtual bool takes(const State& /*state*/, int /*frames*/) const { return false; }

  /// Launches the transform of a batch of whole frames. Stream-ordered, never allocates or synchronises, can
  /// be captured. Throws Error(device) for a failed launch.
  virtual void enqueue(const Batch<Real>& batch, State& state, Stream stream) const = 0;

  /// The samples that the path reads, as flat indices in the order of a compact frame; empty: all of them,
  /// and enqueue_compact() may not be called.
  virtual const std::vector<std::int64_t>& sample_indices() const {
    static const std::vector<std::int64_t> none;
    return none;
  }
  /// The same on compact frames.
  virtual void enqueue_compact(const Batch<Real>&, State&, Stream) const {}
  /// The rows of a frame that hold the samples, if the path can read frames that consist of those; else
  /// empty, and enqueue_rows() may not be called.
  virtual const RowSet& row_set() const noexcept {
    static const RowSet none;
    return none;
  }
  /// Has a kernel copy the rows and the witness's samples of frames in page-locked memory, where kernels see
  /// them, to compact frames of row_set().
  virtual void fetch_rows(const void* /*frames*/, std::size_t /*element*/, int /*count*/, void* /*compact*/,
                          Stream /*stream*/) const {}
  /// The same on the compact frames of row_set().
  virtual void enqueue_rows(const Batch<Real>&, State&, Stream) const {}
  /// Samples of a stream; 0: the path is exact without a reference. sample_indices() holds whole streams,
  /// then the witness's samples.
  virtual std::int64_t taps() const noexcept { return 0; }
  virtual std::int64_t witness_samples() const noexcept { return 0; }
  /// Complex numbers in the samples of a reference; 0 where taps() is.
  virtual std::int64_t reference_points() const noexcept { return 0; }
  /// Has kernels read a reference's samples and the kWitnessReals of its witness from a frame that they see.
  /// Stream-ordered; takes memory of the pool. Only where there are reference_points().
  virtual void read_reference(const void* /*frame*/, Element /*type*/, Complex<Real>* /*samples*/,
                              Real* /*witness*/, Stream /*stream*/) const {}

  virtual std::string describe() const = 0;  ///< "fused, 4 blocks of 256 threads"
};

}  // namespace sfft::detail::cuda
