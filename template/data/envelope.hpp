// SPDX-License-Identifier: Apache-2.0
// A smooth model of spectral power: its mean over cells that are logarithmic in |f_d| along each dimension.
// Natural signals follow power laws, so a few hundred cells describe millions of frequencies. The planner
// uses it to predict the power that aliases into a bucket.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::detail {

/// One axis, divided into the cells of kernels/base/math/log_cells.hpp.
class CellAxis {
 public:
  static constexpr int kMaxCells = 126;  ///< for any extent below 2^63
  explicit CellAxis(std::int64_t extent);
  std::int64_t extent() const noexcept { return extent_; }
  int cells() const noexcept { return static_cast<int>(first_.size()) - 1; }
  /// Cell of frequency f in [0, extent), by |f| = min(f, extent - f).
  int cell(std::int64_t f) const noexcept;
  /// counts[c] = the number of f in [0, extent) with f ≡ residue (mod modulus) in cell c; modulus
  /// divides the extent.
  void counts(std::int64_t residue, std::int64_t modulus, double* counts) const noexcept;

 private:
  std::int64_t extent_;
  std::vector<std::int64_t> first_;  ///< first |f| of each cell, and one past the last
  /// first_ as doubles, and one past the cells' last negatives extent − |f|; the negative half begins after
  /// n/2.
  std::vector<double> ends_, mirrored_ends_;
};

/// Mean power per cell, on the product of the axes' cells, row-major.
struct Envelope {
  std::vector<double> power;
  bool empty() const noexcept { return power.empty(); }
  bool zero() const noexcept;
};

/// The product of the axes of a shape: linear cell indices and bucket sums.
class CellGrid {
 public:
  explicit CellGrid(const Shape& shape);
  std::size_t cells() const noexcept;
  std::size_t cell(const std::array<std::int64_t, 3>& f) const noexcept;
  const CellAxis& axis(int d) const noexcept { return axes_[static_cast<std::size_t>(d)]; }
  int rank() const noexcept { return static_cast<int>(axes_.size()); }

  /// Number of frequencies of the whole grid in each cell.
  std::vector<double> counts() const;
  /// For every bucket b of a comb: Σ power(f) over all f ≡ b (mod buckets), row-major over ∏buckets.
  /// Dimensions before `first` remain divided into cells.
  std::vector<double> bucket_sums(const Envelope& envelope, const std::array<std::int64_t, 3>& buckets,
                                  int first = 0) const;

 private:
  std::vector<CellAxis> axes_;
};

}  // namespace sfft::detail
