// SPDX-License-Identifier: Apache-2.0
// Assigns the coefficients of a block of columns to cells, with their multiplicities.
#pragma once

#include <vector>

#include "sfft/types.hpp"
#include "template/learning/axis_runs.hpp"
#include "template/learning/largest_elements.hpp"

namespace sfft::detail {

/// Blocks consist of whole columns along the slowest of two or three dimensions, or of a run of a 1D
/// spectrum, whose slowest dimension counts as 1.
class BlockCells {
 public:
  BlockCells(const Shape& shape, bool real);

  std::int64_t slabs() const noexcept { return slabs_; }
  std::int64_t columns() const noexcept { return columns_; }  ///< elements of a slab

  /// Element m of column first_column + c is at [m width + c], c < width; columns c < skipped do not count.
  struct Block {
    const double *re, *im;
    std::int64_t first_column, width, skipped;
  };
  /// `offsets` is scratch for slabs() × width elements.
  void scan(const Block& block, std::int64_t* offsets, PartialSelection& selection) const;

 private:
  /// Columns first … end − 1 in one cell. If `conjugates`, the conjugates of each column are stored as well,
  /// in itself or in another column.
  struct ColumnRun {
    std::int64_t first, end;
    std::int32_t cell;
    bool conjugates;
  };
  void scan_conjugates(const Block& block, std::int64_t column, std::int32_t cell,
                       PartialSelection& selection) const;

  bool real_;
  std::int64_t slabs_, rows_, row_points_, columns_;
  std::int32_t cells_;  ///< in a slab
  std::vector<AxisRun> slab_runs_;
  std::vector<ColumnRun> column_runs_;
};

}  // namespace sfft::detail
