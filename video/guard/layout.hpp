// SPDX-License-Identifier: Apache-2.0
// Which part of a picture the guard looks at, and at which frequencies.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "sfft/types.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

/// The region without a few rows and columns at its rim, so that both sides have small prime factors: sparse
/// plans need divisors. Takes off at most a twelfth of a side.
Region plannable(const Region& region);

/// Signed frequency in cycles per region.
struct Frequency {
  int x = 0, y = 0;
};

/// The frequencies of the guard's template. The low block holds every frequency up to `columns` and `rows`
/// and thus a small picture of the scene. The rings hold the strongest frequencies that are steady from frame
/// to frame, in bands of rising frequency: the fine detail.
struct Layout {
  Region region;
  int columns = 0, rows = 0;
  std::vector<std::int64_t> support;   ///< linear indices into the region's grid, ascending
  std::vector<Frequency> frequencies;  ///< of the support
  std::vector<std::size_t> block;      ///< places of the low block: fx = 0 … columns, fy = -rows … rows;
                                       ///< for fx = 0 and fy < 0 the place of the conjugate
  std::vector<std::vector<std::size_t>> rings;  ///< places of each band, lowest first

  Shape shape() const { return Shape{region.height, region.width}; }
  /// Index in `block`.
  std::size_t at(int fx, int fy) const { return static_cast<std::size_t>(fx * (2 * rows + 1) + fy + rows); }
  /// The values of the low block in the order of `block`, conjugates taken.
  void gather_block(std::span<const std::complex<float>> values, std::vector<std::complex<float>>& low) const;
};

/// Upper limit of the rings, in cycles per pixel: a blur of two pixels leaves a third of that.
inline constexpr double kFinestCycles = 0.25;
inline constexpr int kRings = 4;

/// `mean`: half spectrum of the mean learning frame; `power`: mean |X|² of the frames. `k`: about how many
/// frequencies. Throws Error(invalid_argument) for a region too small to hold structure.
Layout make_layout(const Region& region, std::span<const std::complex<float>> mean,
                   std::span<const float> power, int k);

}  // namespace sfft::video
