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

constexpr std::int64_t kTile = 32;  ///< elements a side of a square matrix's tiles

}  // namespace

template <class Real>
Transposition<Real>::Transposition(std::int64_t rows, std::int64_t columns, std::int64_t element)
    : rows_(rows), columns_(columns), element_(element), common_(std::gcd(rows, columns)) {
  constexpr std::int64_t kLine = 128 / static_cast<std::int64_t>(sizeof(std::complex<Real>));
  block_ = std::min(columns, std::max<std::int64_t>(1, kLine / element));
}

template <class Real>
int Transposition<Real>::passes() const noexcept {
  if (square()) return 1;
  return common_ > 1 ? 3 : 2;
}

template <class Real>
std::int64_t Transposition<Real>::parts(int pass) const noexcept {
  if (square()) return (rows_ + kTile - 1) / kTile;
  const bool of_rows = pass == passes() - 2;
  return of_rows ? rows_ : (columns_ + block_ - 1) / block_;
}

template <class Real>
std::size_t Transposition<Real>::scratch_bytes() const noexcept {
  if (square()) return 0;
  const std::int64_t values = std::max(rows_ * block_, columns_) * element_;
  return (static_cast<std::size_t>(values) * sizeof(std::complex<Real>) + 63) / 64 * 64;
}

template <class Real>
void Transposition<Real>::part(int pass, std::int64_t part, std::complex<Real>* matrix,
                               std::byte* scratch) const {
  if (square()) return swap_tiles(part, matrix);
  auto* const values = reinterpret_cast<std::complex<Real>*>(scratch);
  const int from_last = passes() - 1 - pass;
  if (from_last == 2) {
    rotate_columns(part * block_, matrix, values);
  } else if (from_last == 1) {
    shuffle_row(part, matrix, values);
  } else {
    shuffle_columns(part * block_, matrix, values);
  }
}

/// One row of tiles, from the diagonal on, with its mirror.
template <class Real>
void Transposition<Real>::swap_tiles(std::int64_t part, std::complex<Real>* matrix) const {
  const std::int64_t first = part * kTile, end = std::min(rows_, first + kTile);
  for (std::int64_t other = first; other < rows_; other += kTile) {
    for (std::int64_t i = first; i < end; ++i) {
      for (std::int64_t j = std::max(i + 1, other); j < std::min(rows_, other + kTile); ++j)
        std::swap_ranges(matrix + (i * rows_ + j) * element_, matrix + (i * rows_ + j + 1) * element_,
                         matrix + (j * rows_ + i) * element_);
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
