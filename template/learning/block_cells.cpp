// SPDX-License-Identifier: Apache-2.0
// Cells are rectangles of a block. The columns f_D = 0 and f_D = n_D/2 of a real signal, which store
// conjugates as well, are processed one element at a time.
#include "template/learning/block_cells.hpp"

#include <algorithm>

namespace sfft::detail {

namespace {

std::int32_t cells_of(std::int64_t extent) {
  return static_cast<std::int32_t>(log_cells(extent));
}

std::int64_t negated(std::int64_t f, std::int64_t extent) {
  return f == 0 ? 0 : extent - f;
}

}  // namespace

BlockCells::BlockCells(const Shape& shape, bool real)
    : real_(real),
      slabs_(shape.rank() > 1 ? shape[0] : 1),
      rows_(shape.rank() == 3 ? shape[1] : 1),
      row_points_(real ? shape[shape.rank() - 1] / 2 + 1 : shape[shape.rank() - 1]),
      columns_(rows_ * row_points_),
      slab_runs_(axis_runs(slabs_, false)) {
  const std::int64_t samples = shape[shape.rank() - 1];
  cells_ = cells_of(rows_) * cells_of(samples);
  const std::vector<AxisRun> runs = axis_runs(samples, real);
  for (const AxisRun& row : axis_runs(rows_, false)) {
    for (std::int64_t y = row.first; y < row.end; ++y) {
      for (const AxisRun& run : runs) {
        const std::int64_t start = y * row_points_;
        const std::int32_t cell = row.cell * cells_of(samples) + run.cell;
        const bool nyquist = real && 2 * (run.end - 1) == samples;
        const bool mean = real && run.first == 0;  // a separate run
        const std::int64_t split = run.end - (nyquist ? 1 : 0);
        if (split > run.first) column_runs_.push_back({start + run.first, start + split, cell, mean});
        if (nyquist) column_runs_.push_back({start + split, start + run.end, cell, true});
      }
    }
  }
}

void BlockCells::scan_conjugates(const Block& block, std::int64_t column, std::int32_t cell,
                                 PartialSelection& selection) const {
  const std::int64_t y = column / row_points_;
  const std::int64_t mirrored_y = negated(y, rows_);
  const double* re = block.re + (column - block.first_column);
  const double* im = block.im + (column - block.first_column);
  for (const AxisRun& run : slab_runs_) {
    for (std::int64_t m = run.first; m < run.end; ++m) {
      const std::int64_t mirrored = negated(m, slabs_);
      // The smaller index represents the pair (SpectrumLayout::representative).
      if (m > mirrored || (m == mirrored && y > mirrored_y)) continue;
      selection.offer(m * columns_ + column, {re[m * block.width], im[m * block.width]},
                      run.cell * cells_ + cell, m == mirrored && y == mirrored_y ? 1 : 2);
    }
  }
}

void BlockCells::scan(const Block& block, std::int64_t* offsets, PartialSelection& selection) const {
  const std::int64_t first = block.first_column + block.skipped;
  const std::int64_t last = block.first_column + block.width;
  auto run = std::upper_bound(column_runs_.begin(), column_runs_.end(), first,
                              [](std::int64_t column, const ColumnRun& r) { return column < r.end; });
  for (; run != column_runs_.end() && run->first < last; ++run) {
    const std::int64_t begin = std::max(run->first, first), end = std::min(run->end, last);
    if (run->conjugates) {
      scan_conjugates(block, begin, run->cell, selection);
      continue;
    }
    for (const AxisRun& slabs : slab_runs_) {
      const std::int32_t cell = slabs.cell * cells_ + run->cell;
      const int multiplicity = real_ ? 2 : 1;
      const std::int64_t corner = slabs.first * block.width + begin - block.first_column;
      const SpectrumRegion region{
          block.re + corner, block.im + corner, block.width, slabs.end - slabs.first, end - begin, cell,
          multiplicity};
      selection.scan(region, offsets, [&](std::int64_t offset) {
        const std::int64_t at = corner + offset;
        selection.offer(at / block.width * columns_ + block.first_column + at % block.width,
                        {block.re[at], block.im[at]}, cell, multiplicity);
      });
    }
  }
}

}  // namespace sfft::detail
