// SPDX-License-Identifier: Apache-2.0
// Positions of a distributed array's elements, and copies between layouts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sfft/mpi.hpp"

namespace sfft::mpi::detail {

/// One value per dimension.
using Three = std::array<std::int64_t, 3>;
/// Dimensions from the slowest in memory to the fastest.
using Order = std::array<int, 3>;
inline constexpr Order kRowMajor{0, 1, 2};

/// An array over all processes: the box of each, and the order of the elements within a box.
struct Layout {
  std::vector<Box> boxes;
  Order order = kRowMajor;
};

/// Strides in elements of each dimension, in a box stored in that order.
Three strides_of(const Box& box, const Order& order) noexcept;

/// The intersection; an extent is 0 if it is empty.
Box common(const Box& a, const Box& b) noexcept;

/// Offset of the first element of `part` in a box with those strides.
std::int64_t offset_of(const Box& part, const Box& box, const Three& strides) noexcept;

/// The box of the process with grid position `at`, if the elements of each dimension d are shared by
/// counts[d] processes.
Box share(const Three& extents, const Three& counts, const Three& at) noexcept;

/// Copies extent[0] × extent[1] × extent[2] elements of 4, 8 or 16 bytes between strided arrays that do
/// not overlap.
void copy_elements(const Three& extent, const std::byte* from, const Three& from_strides, std::byte* to,
                   const Three& to_strides, std::size_t element_bytes);

}  // namespace sfft::mpi::detail
