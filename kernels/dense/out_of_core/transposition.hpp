// SPDX-License-Identifier: Apache-2.0
// Transposes a matrix in place, on any number of threads. Square blocks are transposed by exchanging tiles in
// cache, with non-temporal stores of whole cache lines. Other shapes take independent passes over columns and
// rows (Catanzaro, Keller and Garland, PPoPP 2014, A decomposition for in-place matrix transposition).
#pragma once

#include <cstddef>
#include <cstdint>

namespace sfft::detail {

/// Transposes row-major rows × columns elements of `element` complex values of `value_bytes` bytes each. It
/// is fastest if `columns` is a multiple of `rows`: then stretches of rows change places, and squares are
/// transposed. The parts of a pass may run concurrently and in any order.
class Transposition {
 public:
  Transposition(std::int64_t rows, std::int64_t columns, std::int64_t element, std::int64_t value_bytes);

  int passes() const noexcept;
  std::int64_t parts(int pass) const noexcept;
  /// Scratch of one part, a multiple of 64 bytes.
  std::int64_t scratch_bytes() const noexcept;
  void part(int pass, std::int64_t part, std::byte* matrix, std::byte* scratch) const;

 private:
  /// The number of squares side by side; 0 if squares do not fill the rows.
  std::int64_t squares() const noexcept { return columns_ % rows_ == 0 ? columns_ / rows_ : 0; }
  std::int64_t square_parts() const noexcept;
  template <class Value>
  void move(int pass, std::int64_t part, Value* matrix, std::byte* scratch) const;
  template <class Value>
  void exchange_stretches(std::int64_t part, Value* matrix, std::byte* scratch) const;
  /// Swaps elements one by one, for elements longer than a row of a tile.
  template <class Value>
  void swap_elements(std::int64_t part, Value* matrix) const;
  template <class Value>
  void swap_tiles(std::int64_t part, Value* matrix, Value* scratch) const;
  template <class Value>
  void copy_columns(const Value* begin, std::int64_t count, Value* to) const;
  template <class Value>
  void rotate_columns(std::int64_t first, Value* matrix, Value* scratch) const;
  template <class Value>
  void shuffle_row(std::int64_t row, Value* matrix, Value* scratch) const;
  template <class Value>
  void shuffle_columns(std::int64_t first, Value* matrix, Value* scratch) const;

  /// Values from one row of a tile in the scratch to the next.
  std::int64_t tile_pitch() const noexcept;

  std::int64_t rows_, columns_, element_, value_bytes_;
  std::int64_t tile_;            ///< side of a square's tiles, in elements
  std::int64_t common_, block_;  ///< greatest common divisor of rows and columns; columns per part
};

}  // namespace sfft::detail
