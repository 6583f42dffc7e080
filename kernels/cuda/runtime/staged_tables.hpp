// SPDX-License-Identifier: Apache-2.0
// Sends tables to the GPU with one allocation and one copy, each of which costs as much as about 100 kB of
// tables. To reallocate freed memory, the driver takes 75 us or more; the pool takes a few.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/runtime/stream_buffer.hpp"
#include "kernels/runtime/step_trace.hpp"

namespace sfft::detail::cuda {

/// add() every table, upload() once, then find them with at(). Tables must stay alive until upload(). Gaps
/// between tables are zero, because kernels read some tables in pairs of elements.
class StagedTables {
 public:
  /// Returns the table's place, an offset in bytes.
  template <class T>
  std::size_t add(const std::vector<T>& values) {
    const std::size_t place = add(values.size() * sizeof(T));
    put(place, values.data(), values.size() * sizeof(T));
    return place;
  }
  /// Reserves `bytes`, which put() fills.
  std::size_t add(std::size_t bytes) {
    const std::size_t place = bytes_;
    bytes_ += aligned(bytes);
    return place;
  }
  void put(std::size_t place, const void* data, std::size_t bytes) {
    if (bytes > 0) pieces_.push_back({place, data, bytes});
  }
  /// Reserves room after all tables for a kernel to fill.
  std::size_t add_room(std::size_t bytes) {
    const std::size_t place = bytes_ + room_;
    room_ += aligned(bytes);
    return place;
  }
  /// Size of the block that upload() needs.
  std::size_t host_bytes() const noexcept { return bytes_; }
  /// Writes all tables to `host`, which has room for host_bytes().
  void gather(std::byte* host) {
    std::ranges::sort(pieces_, {}, &Piece::place);
    std::size_t filled = 0;
    for (const Piece& piece : pieces_) {
      std::memset(host + filled, 0, piece.place - filled);
      std::memcpy(host + piece.place, piece.data, piece.bytes);
      filled = piece.place + piece.bytes;
    }
    std::memset(host + filled, 0, bytes_ - filled);
    pieces_.clear();
  }
  /// Copies to the current device through `host`, which must outlive the copy in the default stream.
  void upload(std::byte* host) {
    device_ = PooledBuffer(bytes_ + room_);
    step_done("tables: allocate");
    gather(host);
    if (bytes_ > 0) copy_to_device(device_.data(), host, bytes_, nullptr);
  }
  template <class T>
  T* at(std::size_t place) const noexcept {
    return reinterpret_cast<T*>(device_.data() + place);
  }

 private:
  struct Piece {
    std::size_t place;
    const void* data;
    std::size_t bytes;
  };
  std::vector<Piece> pieces_;
  std::size_t bytes_ = 0, room_ = 0;
  PooledBuffer device_;
};

}  // namespace sfft::detail::cuda
