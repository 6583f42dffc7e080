// SPDX-License-Identifier: Apache-2.0
// The element at row i and column j of the result's memory, seen as rows × columns, is number l = i·columns +
// j of the transposed matrix, and comes from row l mod rows and column l / rows. The passes take it there by
// rotating columns (which gives every row one element of each destination column), shuffling rows, and
// shuffling columns.
#include "kernels/dense/out_of_card/transposition.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sfft::detail {

namespace {

constexpr std::int64_t kTile = 32;             ///< elements a side of a square's tiles
constexpr std::int64_t kStretchValues = 1024;  ///< of a stretch that one part moves

}  // namespace

template <class Real>
Transposition<Real>::Transposition(std::int64_t rows, std::int64_t columns, std::int64_t element)
    : rows_(rows), columns_(columns), element_(element), common_(std::gcd(rows, columns)) {
  constexpr std::int64_t kLine = 128 / static_cast<std::int64_t>(sizeof(std::complex<Real>));
  block_ = std::min(columns, std::max<std::int64_t>(1, kLine / element));
}

template <class Real>
int Transposition<Real>::passes() const noexcept {
  if (squares() > 0) return squares() == 1 ? 1 : 2;
  return common_ > 1 ? 3 : 2;
}

template <class Real>
std::int64_t Transposition<Real>::square_parts() const noexcept {
  return (rows_ + kTile - 1) / kTile;
}

template <class Real>
std::int64_t Transposition<Real>::parts(int pass) const noexcept {
  const bool last = pass + 1 == passes();
  if (squares() > 0)
    return last ? squares() * square_parts() : (rows_ * element_ + kStretchValues - 1) / kStretchValues;
  return pass + 2 == passes() ? rows_ : (columns_ + block_ - 1) / block_;
}

template <class Real>
std::size_t Transposition<Real>::scratch_bytes() const noexcept {
  std::size_t bytes = sizeof(std::complex<Real>);
  if (squares() == 1) return 0;
  if (squares() > 1) {
    bytes *= kStretchValues;
    bytes += static_cast<std::size_t>(columns_);  // a flag for each stretch
  } else {
    bytes *= static_cast<std::size_t>(std::max(rows_ * block_, columns_) * element_);
  }
  return (bytes + 63) / 64 * 64;
}

template <class Real>
void Transposition<Real>::part(int pass, std::int64_t part, std::complex<Real>* matrix,
                               std::byte* scratch) const {
  auto* const values = reinterpret_cast<std::complex<Real>*>(scratch);
  const int from_last = passes() - 1 - pass;
  if (squares() > 0 && from_last == 1) {
    exchange_stretches(part, matrix, scratch);
  } else if (squares() > 0) {
    swap_tiles(part % square_parts(), matrix + part / square_parts() * rows_ * rows_ * element_);
  } else if (from_last == 2) {
    rotate_columns(part * block_, matrix, values);
  } else if (from_last == 1) {
    shuffle_row(part, matrix, values);
  } else {
    shuffle_columns(part * block_, matrix, values);
  }
}

/// From row i and square q to square q and row i, along the cycles of that permutation, for a part of each
/// stretch.
template <class Real>
void Transposition<Real>::exchange_stretches(std::int64_t part, std::complex<Real>* matrix,
                                             std::byte* scratch) const {
  const std::int64_t stretch = rows_ * element_, first = part * kStretchValues,
                     count = std::min(kStretchValues, stretch - first), total = squares() * rows_;
  auto* const held = reinterpret_cast<std::complex<Real>*>(scratch);
  auto* const done = scratch + kStretchValues * static_cast<std::int64_t>(sizeof(std::complex<Real>));
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

/// One row of tiles, from the diagonal on, with its mirror.
template <class Real>
void Transposition<Real>::swap_tiles(std::int64_t part, std::complex<Real>* matrix) const {
  const std::int64_t first = part * kTile, end = std::min(rows_, first + kTile);
  const auto at = [&](std::int64_t i, std::int64_t j) { return matrix + (i * rows_ + j) * element_; };
  for (std::int64_t other = first; other < rows_; other += kTile) {
    for (std::int64_t i = first; i < end; ++i) {
      for (std::int64_t j = std::max(i + 1, other); j < std::min(rows_, other + kTile); ++j)
        std::swap_ranges(at(i, j), at(i, j + 1), at(j, i));
    }
  }
}

/// Row i of column j comes from row i + j/b, b = columns/common.
template <class Real>
void Transposition<Real>::rotate_columns(std::int64_t first, std::complex<Real>* matrix,
                                         std::complex<Real>* scratch) const {
  const std::int64_t count = std::min(block_, columns_ - first), pitch = columns_ * element_,
                     b = columns_ / common_;
  std::complex<Real>* const begin = matrix + first * element_;
  for (std::int64_t i = 0; i < rows_; ++i)
    std::copy_n(begin + i * pitch, count * element_, scratch + i * count * element_);
  for (std::int64_t i = 0; i < rows_; ++i) {
    for (std::int64_t j = 0; j < count; ++j) {
      std::int64_t from = i + (first + j) / b;
      if (from >= rows_) from -= rows_;
      std::copy_n(scratch + (from * count + j) * element_, element_, begin + i * pitch + j * element_);
    }
  }
}

/// Column j goes to column ((i + j/b) mod rows + j·rows) mod columns.
template <class Real>
void Transposition<Real>::shuffle_row(std::int64_t row, std::complex<Real>* matrix,
                                      std::complex<Real>* scratch) const {
  const std::int64_t b = columns_ / common_, step = rows_ % columns_;
  std::complex<Real>* const begin = matrix + row * columns_ * element_;
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

/// Row i of column j comes from row (j + i·columns − i/a) mod rows, a = rows/common.
template <class Real>
void Transposition<Real>::shuffle_columns(std::int64_t first, std::complex<Real>* matrix,
                                          std::complex<Real>* scratch) const {
  const std::int64_t count = std::min(block_, columns_ - first), pitch = columns_ * element_,
                     a = rows_ / common_;
  std::complex<Real>* const begin = matrix + first * element_;
  for (std::int64_t i = 0; i < rows_; ++i)
    std::copy_n(begin + i * pitch, count * element_, scratch + i * count * element_);
  for (std::int64_t i = 0; i < rows_; ++i) {
    std::int64_t from = (first + i * columns_ - i / a) % rows_;
    for (std::int64_t j = 0; j < count; ++j) {
      std::copy_n(scratch + (from * count + j) * element_, element_, begin + i * pitch + j * element_);
      if (++from == rows_) from = 0;
    }
  }
}

template class Transposition<float>;
template class Transposition<double>;

}  // namespace sfft::detail
