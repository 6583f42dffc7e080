// SPDX-License-Identifier: Apache-2.0
// Copies between arrays and the page-locked buffers that pieces pass through, by all threads that have
// nothing else to do.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <vector>

#include "kernels/dense/out_of_core/device_slots.hpp"

namespace sfft::detail {

/// Rows of a segment that passes through a buffer, and where they lie there: one behind the other, as they
/// are or, of floats, in block16 (kernels/base/storage.hpp), each row with its exponents behind it.
struct BufferedRows {
  DeviceRows piece, array;
  std::size_t offset = 0, row_bytes = 0;

  std::size_t end() const noexcept { return offset + piece.rows * row_bytes; }
};
struct BufferedPiece {
  std::vector<BufferedRows> rows;
  bool packed = false;  ///< in block16

  std::size_t bytes() const noexcept { return rows.empty() ? 0 : rows.back().end(); }
};
/// The rows of all segments but resident ones. They need no more room than the segments.
BufferedPiece buffered(const std::vector<PieceSegment>& segments, bool packed);

class HostCopies {
 public:
  /// Copies to a buffer, or from there, with the help of others. Blocks until that is done.
  void to_buffer(const BufferedPiece& piece, std::byte* buffer);
  void from_buffer(const BufferedPiece& piece, const std::byte* buffer);
  /// Takes part in others' copies until finish().
  void help();
  void finish() noexcept;

 private:
  struct Job {
    std::int64_t parts, next = 0, left;
    const std::function<void(std::int64_t)>& part;
  };
  void share(std::int64_t parts, const std::function<void(std::int64_t)>& part);
  /// Calls copy(rows, array row, row in the buffer at `offset`) for every row.
  template <class Copy>
  void over_rows(const std::vector<BufferedRows>& all, const Copy& copy);
  /// One part of a job, without the lock.
  void run_part(Job& job, std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Job*> open_;  ///< those of which parts are left to be taken
  bool finished_ = false;
};

}  // namespace sfft::detail
