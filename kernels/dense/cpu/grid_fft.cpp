// SPDX-License-Identifier: Apache-2.0
// Processes rows and columns like the built-in engine, except that the last pass leaves its result in place.
#include "kernels/dense/cpu/grid_fft.hpp"

#include <algorithm>

namespace sfft::detail {

namespace {

/// The number of columns whose four buffers fit in the L2 cache, in whole cache lines. All blocks have this
/// width, so the last one overlaps the one before.
std::int64_t block_width(std::int64_t slabs, std::int64_t columns) {
  constexpr std::int64_t kCacheBytes = 512 << 10, kLine = 8, kMax = 64;
  const std::int64_t fitting = kCacheBytes / (4 * static_cast<std::int64_t>(sizeof(double))) / slabs;
  return std::min(columns, std::clamp(fitting / kLine * kLine, kLine, kMax));
}

}  // namespace

GridFft::GridFft(const Shape& shape, bool real)
    : slabs_(shape[0]),
      rows_(shape.rank() == 3 ? shape[1] : 1),
      row_samples_(shape[shape.rank() - 1]),
      row_(row_samples_, real),
      middle_(rows_ > 1 ? std::make_unique<const ColumnStage<double>>(rows_, row_.spectrum_points())
                        : nullptr),
      slab_points_(rows_ * row_.spectrum_points()),
      width_(block_width(slabs_, slab_points_)),
      columns_(std::span(&slabs_, 1), width_) {
  std::size_t reals =
      std::max(row_.workspace_reals(), SplitWorkspace<double>::total(columns_.buffer_reals()));
  if (middle_) reals = std::max(reals, middle_->workspace_reals());
  scratch_bytes_ = (reals * sizeof(double) + 63) / 64 * 64;
}

void GridFft::slab(std::int64_t slab, const void* signal, ElementType type, std::complex<double>* spectrum,
                   std::byte* scratch) const {
  const auto row_bytes = static_cast<std::size_t>(row_samples_) * element_bytes(type);
  std::complex<double>* to = spectrum + slab * slab_points_;
  for (std::int64_t row = 0; row < rows_; ++row) {
    const std::byte* from =
        static_cast<const std::byte*>(signal) + static_cast<std::size_t>(slab * rows_ + row) * row_bytes;
    row_.forward(from, type, to + row * row_.spectrum_points(), scratch);
  }
  if (middle_) middle_->transform(to, to, false, scratch);
}

GridFft::Block GridFft::block(std::int64_t block, const std::complex<double>* spectrum,
                              std::byte* scratch) const {
  constexpr std::size_t kDouble = 3;  // index among the layouts' types
  const auto load = cpu::layout_kernels<double>().deinterleave[kDouble];
  const std::int64_t first = std::min(block * width_, slab_points_ - width_);
  SplitWorkspace<double> split(scratch, columns_.buffer_reals());
  for (std::int64_t m = 0; m < slabs_; ++m)
    load(spectrum + m * slab_points_ + first, width_, split.re + m * width_, split.im + m * width_);
  split.transform(columns_, false);
  return {split.re, split.im, first, block * width_ - first};
}

}  // namespace sfft::detail
