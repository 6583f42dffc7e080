// SPDX-License-Identifier: Apache-2.0
// Copies are tiled if the fastest dimensions of source and target differ.
#include "sfft/mpi/layout.hpp"

#include <algorithm>
#include <complex>
#include <cstring>

namespace sfft::mpi::detail {

namespace {

constexpr std::int64_t kTile = 16;  // of 16 bytes: 4 KiB to read and 4 KiB to write

/// The dimension with the smallest step among those with more than one element.
int fastest(const Three& extent, const Three& strides) {
  int found = 2;
  for (int d = 2; d >= 0; --d) {
    const auto at = static_cast<std::size_t>(d);
    const auto best = static_cast<std::size_t>(found);
    if (extent[at] > 1 && (extent[best] == 1 || strides[at] < strides[best])) found = d;
  }
  return found;
}

/// A plane of two arrays. Steps are in elements.
struct Plane {
  std::int64_t rows, columns;
  std::int64_t from_row, from_column, to_row, to_column;
};

template <class T>
void copy_plane(const Plane& plane, const T* from, T* to) {
  const auto [rows, columns, from_row, from_column, to_row, to_column] = plane;
  if (from_column == 1 && to_column == 1) {
    for (std::int64_t row = 0; row < rows; ++row)
      std::memcpy(to + row * to_row, from + row * from_row, static_cast<std::size_t>(columns) * sizeof(T));
    return;
  }
  for (std::int64_t row = 0; row < rows; row += kTile) {
    const std::int64_t row_end = std::min(rows, row + kTile);
    for (std::int64_t column = 0; column < columns; column += kTile) {
      const std::int64_t column_end = std::min(columns, column + kTile);
      for (std::int64_t i = row; i < row_end; ++i)
        for (std::int64_t j = column; j < column_end; ++j)
          to[i * to_row + j * to_column] = from[i * from_row + j * from_column];
    }
  }
}

template <class T>
void copy_typed(const Three& extent, const std::byte* from, const Three& from_strides, std::byte* to,
                const Three& to_strides) {
  const int column = fastest(extent, to_strides);
  int row = fastest(extent, from_strides);
  if (row == column) row = column == 2 ? 1 : (column == 1 ? 2 : 1);
  const auto c = static_cast<std::size_t>(column);
  const auto r = static_cast<std::size_t>(row);
  const std::size_t o = 3 - c - r;
  for (std::int64_t i = 0; i < extent[o]; ++i) {
    copy_plane<T>({extent[r], extent[c], from_strides[r], from_strides[c], to_strides[r], to_strides[c]},
                  reinterpret_cast<const T*>(from) + i * from_strides[o],
                  reinterpret_cast<T*>(to) + i * to_strides[o]);
  }
}

}  // namespace

Three strides_of(const Box& box, const Order& order) noexcept {
  Three strides{};
  std::int64_t step = 1;
  for (std::size_t i = 3; i-- > 0;) {
    const auto dimension = static_cast<std::size_t>(order[i]);
    strides[dimension] = step;
    step *= box.extent[dimension];
  }
  return strides;
}

Box common(const Box& a, const Box& b) noexcept {
  Box both;
  for (std::size_t d = 0; d < 3; ++d) {
    both.begin[d] = std::max(a.begin[d], b.begin[d]);
    const std::int64_t end = std::min(a.begin[d] + a.extent[d], b.begin[d] + b.extent[d]);
    both.extent[d] = std::max<std::int64_t>(0, end - both.begin[d]);
  }
  return both;
}

std::int64_t offset_of(const Box& part, const Box& box, const Three& strides) noexcept {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < 3; ++d) offset += (part.begin[d] - box.begin[d]) * strides[d];
  return offset;
}

Box share(const Three& extents, const Three& counts, const Three& at) noexcept {
  Box box;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t each = (extents[d] + counts[d] - 1) / counts[d];
    box.begin[d] = std::min(extents[d], at[d] * each);
    box.extent[d] = std::min(each, extents[d] - box.begin[d]);
  }
  return box;
}

void copy_elements(const Three& extent, const std::byte* from, const Three& from_strides, std::byte* to,
                   const Three& to_strides, std::size_t element_bytes) {
  if (extent[0] * extent[1] * extent[2] == 0) return;
  if (element_bytes == 4) copy_typed<float>(extent, from, from_strides, to, to_strides);
  if (element_bytes == 8) copy_typed<double>(extent, from, from_strides, to, to_strides);
  if (element_bytes == 16) copy_typed<std::complex<double>>(extent, from, from_strides, to, to_strides);
}

}  // namespace sfft::mpi::detail
