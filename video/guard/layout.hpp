// SPDX-License-Identifier: Apache-2.0
// The part of a picture that the guard analyses, and the frequencies at which it does.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "sfft/types.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

/// Crops a region so that both sides have only small prime factors, if possible, because sparse plans need
/// divisors. Removes at most a twelfth of a side.
Region plannable(const Region& region);

/// Signed frequency in cycles per region.
struct Frequency {
  int x = 0, y = 0;
};

/// The frequencies of the guard's template. The low block holds every frequency up to `columns` and `rows`,
/// and thus a small picture of the scene. The rings hold the fine detail: the strongest frequencies that are
/// steady from frame to frame, in bands of rising frequency.
struct Layout {
  Region region;
  int columns = 0, rows = 0;
  std::vector<std::int64_t> support;   ///< linear indices into the region's grid, ascending
  std::vector<Frequency> frequencies;  ///< frequencies of the support, in its order
  std::vector<std::size_t> block;  ///< positions in the support of the low block: fx = 0 … columns, fy =
                                   ///< -rows … rows; for fx = 0 and fy < 0 the position of the conjugate
  std::vector<std::vector<std::size_t>> rings;  ///< positions in the support of each band, lowest first

  Shape shape() const { return Shape{region.height, region.width}; }
  /// Index in `block`.
  std::size_t at(int fx, int fy) const { return static_cast<std::size_t>(fx * (2 * rows + 1) + fy + rows); }
  /// Writes the values of the low block to `low` in the order of `block`, with conjugates taken.
  void gather_block(std::span<const std::complex<float>> values, std::vector<std::complex<float>>& low) const;
};

/// Upper limit of the rings, in cycles per pixel: a blur of two pixels leaves a third of the amplitude there.
inline constexpr double kFinestCycles = 0.25;
inline constexpr int kRings = 4;

/// `mean`: half spectrum of the mean learning frame; `power`: mean |X|² of the frames. `k`: about this many
/// frequencies. Throws Error(invalid_argument) for a region too small to hold structure.
Layout make_layout(const Region& region, std::span<const std::complex<float>> mean,
                   std::span<const float> power, int k);

}  // namespace sfft::video
