// SPDX-License-Identifier: Apache-2.0
// Frames that are regions of larger arrays: finds their elements and copies them to contiguous memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sfft/types.hpp"

namespace sfft::detail {

/// A frame as executors take it: contiguous at `data`, or a `region`. The view must outlive this object.
struct FrameData {
  FrameData(const void* contiguous) : data(contiguous) {}  // NOLINT: the usual case
  FrameData(const SignalView& view)                        // NOLINT
      : data(view.data()), region(view.contiguous() ? nullptr : &view) {}
  const void* data;
  const SignalView* region = nullptr;
  double unit = 1;  ///< multiplies the samples after they are read; a power of two
};

/// Maps the linear row-major index of an element to its offset in memory, in elements from the first.
class RegionIndex {
 public:
  explicit RegionIndex(const SignalView& view) noexcept {
    const Shape& shape = view.shape();
    const int last = shape.rank() - 1;
    columns_ = shape[last];
    if (last < 1) return;
    row_gap_ = view.stride(last - 1) - columns_;
    if (last < 2) return;
    rows_ = shape[1];
    plane_gap_ = view.stride(0) - rows_ * view.stride(1);
  }
  std::int64_t operator()(std::int64_t flat) const noexcept {
    const std::int64_t row = flat / columns_;
    const std::int64_t place = flat + row * row_gap_;
    return plane_gap_ == 0 ? place : place + row / rows_ * plane_gap_;
  }

 private:
  std::int64_t columns_ = 1, rows_ = 1;
  std::int64_t row_gap_ = 0, plane_gap_ = 0;  ///< elements from the end of one to the start of the next
};

/// Calls use(row, i) with the address of the i-th row along the last dimension.
template <class Use>
void for_each_row(const SignalView& view, const Use& use) {
  const Shape& shape = view.shape();
  const std::int64_t columns = shape[shape.rank() - 1];
  const std::size_t element = element_bytes(view.type());
  const RegionIndex place(view);
  for (std::int64_t i = 0; i < shape.points() / columns; ++i) {
    const auto start = static_cast<std::size_t>(place(i * columns));
    use(static_cast<const std::byte*>(view.data()) + start * element, i);
  }
}

/// Copies all elements in row-major order, view.bytes() bytes.
inline void copy_elements(const SignalView& view, std::byte* to) noexcept {
  if (view.contiguous()) {
    std::memcpy(to, view.data(), view.bytes());
    return;
  }
  const Shape& shape = view.shape();
  const std::size_t row_bytes =
      static_cast<std::size_t>(shape[shape.rank() - 1]) * element_bytes(view.type());
  for_each_row(view, [&](const std::byte* row, std::int64_t i) {
    std::memcpy(to + static_cast<std::size_t>(i) * row_bytes, row, row_bytes);
  });
}

/// A view of a contiguous copy of a view's elements.
inline SignalView copied(const SignalView& view, const std::byte* copy) {
  return {copy, static_cast<std::size_t>(view.shape().points()), view.type(), view.shape()};
}

}  // namespace sfft::detail
