// SPDX-License-Identifier: Apache-2.0
// Tables that go to the GPU in one allocation and one copy: each of either costs as much as some 100 kB of
// them. The driver takes 75 us and more to allocate what has been freed before, the pool a few.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "kernels/base/step_trace.hpp"
#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/runtime/stream_buffer.hpp"

namespace sfft::detail::cuda {

/// add() every table, upload() once, then ask where they are with at().
class StagedTables {
 public:
  /// Returns the table's place.
  template <class T>
  std::size_t add(const std::vector<T>& values) {
    const std::size_t place = add(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(host_.data() + place, values.data(), values.size() * sizeof(T));
    return place;
  }
  /// Room that a kernel fills; comes after all tables.
  std::size_t add_room(std::size_t bytes) {
    const std::size_t place = host_.size() + room_;
    room_ += aligned(bytes);
    return place;
  }
  /// To the current device; the copy is queued on the default stream. Forgets the host's copy.
  void upload() {
    device_ = PooledBuffer(host_.size() + room_);
    step_done("tables: allocate");
    if (!host_.empty()) copy_to_device(device_.data(), host_.data(), host_.size(), nullptr);
    host_ = {};
  }
  template <class T>
  T* at(std::size_t place) const noexcept {
    return reinterpret_cast<T*>(device_.data() + place);
  }

 private:
  std::size_t add(std::size_t bytes) {
    const std::size_t place = host_.size();
    host_.resize(place + aligned(bytes));
    return place;
  }

  std::vector<unsigned char> host_;
  std::size_t room_ = 0;
  PooledBuffer device_;
};

}  // namespace sfft::detail::cuda
