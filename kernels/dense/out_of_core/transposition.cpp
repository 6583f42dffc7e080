// SPDX-License-Identifier: Apache-2.0
// Index the memory of the result as rows × columns. Its element at row i and column j has index l = i·columns
// + j in the transposed matrix, and comes from row l mod rows and column l / rows. Three passes move it: they
// rotate columns (after which every row has one element of each destination column), shuffle rows, and
// shuffle columns.
#include "kernels/dense/out_of_core/transposition.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <numeric>
#include <utility>

#include "kernels/cpu/platform/non_temporal.hpp"
#include "kernels/runtime/aligned_buffer.hpp"

namespace sfft::detail {

namespace {

constexpr std::int64_t kTileBytes = 512, kLineBytes = 64;  ///< kTileBytes: of a tile's row
constexpr std::int64_t kStretchValues = 1024;              ///< values of a stretch that one part moves

/// to[i·pitch + j] = tile[j·tile_pitch + i] for i < rows, j < columns, where i and j count elements of
/// `element` values.
template <bool kNonTemporal, class Value>
void store_transposed(const Value* tile, std::int64_t tile_pitch, std::int64_t rows, std::int64_t columns,
                      std::int64_t element, Value* to, std::int64_t pitch) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      for (std::int64_t e = 0; e < element; ++e) {
        const Value& value = tile[j * tile_pitch + i * element + e];
        if constexpr (kNonTemporal) {
          cpu::store_non_temporal(to + i * pitch + j * element + e, value);
        } else {
          to[i * pitch + j * element + e] = value;
        }
      }
    }
  }
}

}  // namespace

Transposition::Transposition(std::int64_t rows, std::int64_t columns, std::int64_t element,
                             std::int64_t value_bytes)
    : rows_(rows),
      columns_(columns),
      element_(element),
      value_bytes_(value_bytes),
      tile_(std::max<std::int64_t>(1, kTileBytes / (element * value_bytes))),
      common_(std::gcd(rows, columns)),
      block_(std::min(columns, std::max<std::int64_t>(1, 128 / value_bytes / element))) {}

std::int64_t Transposition::tile_pitch() const noexcept {
  return tile_ * element_ + kLineBytes / value_bytes_;
}

int Transposition::passes() const noexcept {
  if (squares() > 0) return squares() == 1 ? 1 : 2;
  return common_ > 1 ? 3 : 2;
}

std::int64_t Transposition::square_parts() const noexcept {
  return (rows_ + tile_ - 1) / tile_;
}

std::int64_t Transposition::parts(int pass) const noexcept {
  const bool last = pass + 1 == passes();
  if (squares() > 0)
    return last ? squares() * square_parts() : (rows_ * element_ + kStretchValues - 1) / kStretchValues;
  return pass + 2 == passes() ? rows_ : (columns_ + block_ - 1) / block_;
}

std::int64_t Transposition::scratch_bytes() const noexcept {
  std::int64_t bytes = value_bytes_;
  if (squares() > 0) {
    const std::int64_t tiles = tile_ > 1 ? bytes * 2 * tile_ * tile_pitch() : 0;
    bytes *= kStretchValues;
    bytes += columns_;  // one flag per stretch
    bytes = squares() == 1 ? tiles : std::max(bytes, tiles);
  } else {
    bytes *= std::max(rows_ * block_, columns_) * element_;
  }
  return aligned_bytes(bytes);
}

void Transposition::part(int pass, std::int64_t part, std::byte* matrix, std::byte* scratch) const {
  if (value_bytes_ == sizeof(std::complex<float>))
    return move(pass, part, reinterpret_cast<std::complex<float>*>(matrix), scratch);
  move(pass, part, reinterpret_cast<std::complex<double>*>(matrix), scratch);
}

template <class Value>
void Transposition::move(int pass, std::int64_t part, Value* matrix, std::byte* scratch) const {
  auto* const values = reinterpret_cast<Value*>(scratch);
  const int from_last = passes() - 1 - pass;
  if (squares() > 0 && from_last == 1) {
    exchange_stretches(part, matrix, scratch);
  } else if (squares() > 0) {
    Value* const square = matrix + part / square_parts() * rows_ * rows_ * element_;
    tile_ > 1 ? swap_tiles(part % square_parts(), square, values)
              : swap_elements(part % square_parts(), square);
  } else if (from_last == 2) {
    rotate_columns(part * block_, matrix, values);
  } else if (from_last == 1) {
    shuffle_row(part, matrix, values);
  } else {
    shuffle_columns(part * block_, matrix, values);
  }
}

/// Moves the stretch at row i and square q to square q and row i, along the cycles of that permutation. Each
/// part moves the same section of every stretch.
template <class Value>
void Transposition::exchange_stretches(std::int64_t part, Value* matrix, std::byte* scratch) const {
  const std::int64_t stretch = rows_ * element_, first = part * kStretchValues,
                     count = std::min(kStretchValues, stretch - first), total = squares() * rows_;
  auto* const held = reinterpret_cast<Value*>(scratch);
  auto* const done = scratch + kStretchValues * value_bytes_;
  std::fill_n(done, total, std::byte{0});
  const auto at = [&](std::int64_t place) { return matrix + place * stretch + first; };
  const auto source = [&](std::int64_t place) { return place % rows_ * squares() + place / rows_; };
  for (std::int64_t start = 0; start < total; ++start) {
    if (done[start] != std::byte{0} || source(start) == start) continue;
    std::copy_n(at(start), count, held);
    std::int64_t place = start;
    for (std::int64_t from = source(place); from != start; from = source(place)) {
      std::copy_n(at(from), count, at(place));
      done[place] = std::byte{1};
      place = from;
    }
    std::copy_n(held, count, at(place));
    done[place] = std::byte{1};
  }
}

/// Swaps one row of elements, from the diagonal on, with its mirror.
template <class Value>
void Transposition::swap_elements(std::int64_t part, Value* matrix) const {
  const auto at = [&](std::int64_t i, std::int64_t j) { return matrix + (i * rows_ + j) * element_; };
  for (std::int64_t j = part + 1; j < rows_; ++j) std::swap_ranges(at(part, j), at(part, j + 1), at(j, part));
}

/// Swaps one row of tiles, from the diagonal on, with its mirror. Rows of a tile are read and written as a
/// whole, because the elements of a column may fall into few cache sets.
template <class Value>
void Transposition::swap_tiles(std::int64_t part, Value* matrix, Value* scratch) const {
  const std::int64_t pitch = rows_ * element_, own_pitch = tile_pitch(), first = part * tile_,
                     count = std::min(tile_, rows_ - first);
  Value* const mirrored = scratch + tile_ * own_pitch;
  const auto at = [&](std::int64_t i, std::int64_t j) { return matrix + i * pitch + j * element_; };
  const auto load = [&](const Value* from, std::int64_t rows, std::int64_t columns, Value* tile) {
    for (std::int64_t i = 0; i < rows; ++i)
      std::copy_n(from + i * pitch, columns * element_, tile + i * own_pitch);
  };
  const bool whole_lines =
      reinterpret_cast<std::uintptr_t>(matrix) % kLineBytes == 0 && pitch * value_bytes_ % kLineBytes == 0;
  const auto store = [&](const Value* tile, std::int64_t rows, std::int64_t columns, Value* to) {
    (whole_lines ? store_transposed<true, Value>
                 : store_transposed<false, Value>)(tile, own_pitch, rows, columns, element_, to, pitch);
  };
  for (std::int64_t other = first; other < rows_; other += tile_) {
    const std::int64_t columns = std::min(tile_, rows_ - other);
    load(at(first, other), count, columns, scratch);
    if (other > first) {
      load(at(other, first), columns, count, mirrored);
      store(mirrored, count, columns, at(first, other));
    }
    store(scratch, columns, count, at(other, first));
  }
  cpu::non_temporal_fence();
}

/// Copies `count` columns from `begin` on to `to`, without gaps.
template <class Value>
void Transposition::copy_columns(const Value* begin, std::int64_t count, Value* to) const {
  for (std::int64_t i = 0; i < rows_; ++i)
    std::copy_n(begin + i * columns_ * element_, count * element_, to + i * count * element_);
}

/// Row i of column j comes from row i + j/b, where b = columns/common.
template <class Value>
void Transposition::rotate_columns(std::int64_t first, Value* matrix, Value* scratch) const {
  const std::int64_t count = std::min(block_, columns_ - first), pitch = columns_ * element_,
                     b = columns_ / common_;
  Value* const begin = matrix + first * element_;
  copy_columns(begin, count, scratch);
  for (std::int64_t i = 0; i < rows_; ++i) {
    for (std::int64_t j = 0; j < count; ++j) {
      std::int64_t from = i + (first + j) / b;
      if (from >= rows_) from -= rows_;
      std::copy_n(scratch + (from * count + j) * element_, element_, begin + i * pitch + j * element_);
    }
  }
}

/// Column j goes to column ((i + j/b) mod rows + j·rows) mod columns.
template <class Value>
void Transposition::shuffle_row(std::int64_t row, Value* matrix, Value* scratch) const {
  const std::int64_t b = columns_ / common_, step = rows_ % columns_;
  Value* const begin = matrix + row * columns_ * element_;
  std::int64_t turned = 0;  // j·rows mod columns
  for (std::int64_t stretch = 0; stretch < common_; ++stretch) {
    const std::int64_t shift = (row + stretch) % rows_ % columns_;
    for (std::int64_t j = stretch * b; j < (stretch + 1) * b; ++j) {
      std::int64_t to = shift + turned;
      if (to >= columns_) to -= columns_;
      std::copy_n(begin + j * element_, element_, scratch + to * element_);
      turned += step;
      if (turned >= columns_) turned -= columns_;
    }
  }
  std::copy_n(scratch, columns_ * element_, begin);
}

/// Row i of column j comes from row (j + i·columns − i/a) mod rows, where a = rows/common.
template <class Value>
void Transposition::shuffle_columns(std::int64_t first, Value* matrix, Value* scratch) const {
  const std::int64_t count = std::min(block_, columns_ - first), pitch = columns_ * element_,
                     a = rows_ / common_;
  Value* const begin = matrix + first * element_;
  copy_columns(begin, count, scratch);
  for (std::int64_t i = 0; i < rows_; ++i) {
    std::int64_t from = (first + i * columns_ - i / a) % rows_;
    for (std::int64_t j = 0; j < count; ++j) {
      std::copy_n(scratch + (from * count + j) * element_, element_, begin + i * pitch + j * element_);
      if (++from == rows_) from = 0;
    }
  }
}

}  // namespace sfft::detail
