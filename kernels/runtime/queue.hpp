// SPDX-License-Identifier: Apache-2.0
// A queue of a device's work, and events in it: a CUDA stream (kernels/cuda/runtime) or, in tests, an
// emulation that runs queues in any order that events allow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace sfft::detail {

/// Rows of `width` bytes; consecutive rows begin `pitch` bytes apart.
struct Rows {
  std::byte* data = nullptr;
  std::int64_t pitch = 0, width = 0, rows = 0;

  Rows packed_at(std::byte* memory) const noexcept { return {memory, width, width, rows}; }
  Rows with_rows(std::int64_t first, std::int64_t count) const noexcept {
    return {data + first * pitch, pitch, width, count};
  }
  Rows with_columns(std::int64_t first_byte, std::int64_t bytes) const noexcept {
    return {data + first_byte, pitch, bytes, rows};
  }
  std::int64_t bytes() const noexcept { return width * rows; }
};

/// What copies: the copy engines, which run concurrently with kernels, or a kernel. Between host and device,
/// a kernel is faster for short rows, unless another kernel copies in the other direction. It needs
/// addresses, widths and pitches that are multiples of 16.
enum class Copier { engine, kernel };

/// A point in a queue. For one host thread at a time.
class Event {
 public:
  virtual ~Event() = default;

  /// Blocks until all work enqueued before the last record() is done; throws the error if that work failed.
  /// Returns at once if the event was never recorded.
  virtual void wait() = 0;
};

/// Its work runs in order, and concurrently with other queues unless an event makes it wait. For one host
/// thread at a time. Functions throw Error(device).
class Queue {
 public:
  virtual ~Queue() = default;

  /// Copies between device memory and memory that the device can access directly, or within device memory.
  /// `to` and `from` have the same width and number of rows.
  virtual void copy(const Rows& to, const Rows& from, Copier copier = Copier::engine) = 0;
  /// Enqueues kernels of the queue's device. A CUDA queue calls work() at once, with its stream; an emulation
  /// calls it when the queue gets there.
  virtual void launch(const std::function<void(CUstream_st*)>& work) = 0;
  /// Records the event, which may have been recorded before, after all work enqueued in this queue so far.
  virtual void record(Event& event) = 0;
  /// Work enqueued from now on starts after the last record() of the event, in this queue or in another, even
  /// of another device. If it was never recorded, there is no wait.
  virtual void wait(const Event& event) = 0;
  /// Blocks until the queue is idle; throws the error if its work failed.
  virtual void wait() = 0;
};

}  // namespace sfft::detail
