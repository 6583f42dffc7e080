// SPDX-License-Identifier: Apache-2.0
// The FFT of a 2D or 3D signal in double precision, for readers that consume coefficients while they are in
// cache. It transforms each slab first, then blocks of columns along the slowest dimension.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/dense/cpu/line_stage.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

/// Immutable, thread-safe.
class GridFft {
 public:
  GridFft(const Shape& shape, bool real);

  std::int64_t slabs() const noexcept { return slabs_; }  ///< extent of the slowest dimension
  std::int64_t blocks() const noexcept { return (slab_points_ + width_ - 1) / width_; }
  std::int64_t slab_points() const noexcept {
    return slab_points_;
  }  ///< as stored: half the points for a
     ///< real signal
  std::int64_t block_columns() const noexcept { return width_; }
  /// Bytes of scratch memory per call, which must be 64-byte aligned.
  std::size_t scratch_bytes() const noexcept { return scratch_bytes_; }

  /// Transforms one slab. Every slab must be done before the first block. Slabs may run concurrently, and so
  /// may blocks, each with its own scratch memory. `signal` holds all elements contiguously; `spectrum` holds
  /// slabs() × slab_points() values.
  void slab(std::int64_t slab, const void* signal, ElementType type, std::complex<double>* spectrum,
            std::byte* scratch) const;

  /// The coefficients of stored columns first_column + c, c < block_columns(). Index m of the slowest
  /// dimension is at [m block_columns() + c], in memory that the caller may overwrite. Columns c < repeated
  /// were also in the previous block.
  struct Block {
    double *re, *im;
    std::int64_t first_column, repeated;
  };
  Block block(std::int64_t block, const std::complex<double>* spectrum, std::byte* scratch) const;

 private:
  std::int64_t slabs_, rows_, row_samples_;  ///< rows of a slab, and samples of a row
  RowStage<double> row_;
  std::unique_ptr<const ColumnStage<double>> middle_;  ///< null in 2D
  std::int64_t slab_points_, width_;
  cpu::SmallFft<double> columns_;
  std::size_t scratch_bytes_;
};

}  // namespace sfft::detail
