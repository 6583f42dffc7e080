// SPDX-License-Identifier: Apache-2.0
// Where the elements of a distributed array lie, and copies between such places.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sfft/mpi.hpp"

namespace sfft::mpi::detail {

/// Three of something, one per dimension.
using Three = std::array<std::int64_t, 3>;
/// Dimensions from the slowest in memory to the fastest.
using Order = std::array<int, 3>;
inline constexpr Order kRowMajor{0, 1, 2};

/// An array over all processes: the box of each, and the order of the elements within a box.
struct Layout {
  std::vector<Box> boxes;
  Order order = kRowMajor;
};

/// Elements of one step in each dimension, in a box stored in that order.
Three strides_of(const Box& box, const Order& order) noexcept;

/// What both have; an extent is 0 where they have nothing.
Box common(const Box& a, const Box& b) noexcept;

/// Where the first element of `part` is in a box with those strides.
std::int64_t offset_of(const Box& part, const Box& box, const Three& strides) noexcept;

/// n elements of dimension d shared by `counts[d]`, in the place `at[d]`.
Box share(const Three& extents, const Three& counts, const Three& at) noexcept;

/// Copies extent[0] × extent[1] × extent[2] elements between strided arrays that do not overlap. Elements
/// have 4, 8 or 16 bytes.
void copy_elements(const Three& extent, const std::byte* from, const Three& from_strides, std::byte* to,
                   const Three& to_strides, std::size_t element_bytes);

}  // namespace sfft::mpi::detail
