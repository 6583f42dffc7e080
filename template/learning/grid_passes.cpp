// SPDX-License-Identifier: Apache-2.0
// Between the passes, real and imaginary parts are interleaved; blocks are split for scanning.
#include "template/learning/spectrum_passes.hpp"

#include <algorithm>

#include "kernels/cpu/stages/layout.hpp"

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

namespace {

using Complex = std::complex<double>;

constexpr std::int64_t kStretch = 4096;  ///< elements of a run, which stay in the L2 cache

Complex* spectrum_at(std::byte* memory) {
  return reinterpret_cast<Complex*>(memory);
}

}  // namespace

std::size_t GridPasses::between_bytes() const noexcept {
  return static_cast<std::size_t>(fft_.slabs() * fft_.slab_points()) * sizeof(Complex);
}

std::size_t GridPasses::scratch_bytes() const noexcept {
  const auto offsets = static_cast<std::size_t>(fft_.slabs() * fft_.block_columns()) * sizeof(std::int64_t);
  return fft_.scratch_bytes() + offsets;
}

void GridPasses::first(std::int64_t part, const void* signal, ElementType type, std::byte* between,
                       std::byte* scratch) const {
  fft_.slab(part, signal, type, spectrum_at(between), scratch);
}

void GridPasses::second(std::int64_t part, std::byte* between, std::byte* scratch,
                        PartialSelection& selection) const {
  const GridFft::Block block = fft_.block(part, spectrum_at(between), scratch);
  if (part == 0) selection.mean = {block.re[0], block.im[0]};
  cells_.scan({block.re, block.im, block.first_column, fft_.block_columns(), block.repeated},
              reinterpret_cast<std::int64_t*>(scratch + fft_.scratch_bytes()), selection);
}

void GridPasses::store(std::int64_t part, std::byte* between, std::byte* scratch, Complex* spectrum) const {
  const GridFft::Block block = fft_.block(part, spectrum_at(between), scratch);
  const auto interleave = cpu::layout_kernels<double>().interleave;
  const std::int64_t width = fft_.block_columns();
  for (std::int64_t m = 0; m < fft_.slabs(); ++m) {
    const std::int64_t from = m * width + block.repeated;
    Complex* const to = spectrum + m * fft_.slab_points() + block.first_column + block.repeated;
    interleave(block.re + from, block.im + from, width - block.repeated, 1, reinterpret_cast<double*>(to));
  }
}

std::int64_t WholePasses::second_parts() const noexcept {
  return (cells_.columns() + kStretch - 1) / kStretch;
}

std::size_t WholePasses::between_bytes() const noexcept {
  return static_cast<std::size_t>(cells_.columns()) * sizeof(Complex);
}

std::size_t WholePasses::scratch_bytes() const noexcept {
  return std::max(engine_->workspace_bytes(1), 3 * static_cast<std::size_t>(kStretch) * sizeof(double));
}

void WholePasses::first(std::int64_t, const void* signal, ElementType type, std::byte* between,
                        std::byte* scratch) const {
  engine_->forward(signal, type, spectrum_at(between), {scratch, nullptr});
}

void WholePasses::second(std::int64_t part, std::byte* between, std::byte* scratch,
                         PartialSelection& selection) const {
  constexpr std::size_t kDouble = 3;  // index of double among the layouts' types
  const std::int64_t first = part * kStretch;
  const std::int64_t width = std::min(kStretch, cells_.columns() - first);
  auto* const re = reinterpret_cast<double*>(scratch);
  auto* const im = re + kStretch;
  cpu::layout_kernels<double>().deinterleave[kDouble](spectrum_at(between) + first, width, re, im);
  if (part == 0) selection.mean = {re[0], im[0]};
  cells_.scan({re, im, first, width, 0}, reinterpret_cast<std::int64_t*>(im + kStretch), selection);
}

void WholePasses::store(std::int64_t part, std::byte* between, std::byte*, Complex* spectrum) const {
  const std::int64_t first = part * kStretch;
  std::copy_n(spectrum_at(between) + first, std::min(kStretch, cells_.columns() - first), spectrum + first);
}

}  // namespace sfft::detail
