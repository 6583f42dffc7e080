// SPDX-License-Identifier: Apache-2.0
// One pass over all samples: their energy, and the signal folded into about a hundred cells under random
// phases. The power of the folded residual estimates the energy of everything that the answer does not
// explain. A change of a few samples shows there even if it keeps the energy, such as a flipped sign.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "sfft/types.hpp"
#include "template/discovery/grid_point.hpp"
#include "template/discovery/random.hpp"

namespace sfft::detail {

struct DiscoveryComponent;

/// Cuts every row of the last dimension into pieces of up to 32 samples and numbers the pieces in row-major
/// order. Piece q belongs to set q mod sets(). Cell (set, c) is the sum of sample c of all pieces of a set,
/// each times the random phase u of its piece:
///
///   R(set, c) = Σ_{q in set} u(q) · x[start(q) + c].
///
/// |u| = 1, so a single changed sample is seen in full, whichever it is. For any residual that does not
/// depend on the phases, E|R|² is its energy in the cell: products of different pieces cancel on average.
/// Nearby samples fall into different cells. u is a product of one phase for each hexadecimal digit of the
/// piece's index along each dimension, so that a component contributes a product of short sums.
class RandomFold {
 public:
  RandomFold(const Shape& shape, DiscoveryRandom& random);

  const Shape& shape() const noexcept { return shape_; }
  std::int64_t sets() const noexcept { return sets_; }
  std::int64_t columns() const noexcept { return columns_; }  ///< samples of a full piece
  std::int64_t row_pieces() const noexcept { return dimensions_[shape_.rank() - 1].indices; }
  /// u of `count` consecutive pieces.
  void phases(std::int64_t piece, std::int64_t count, std::complex<double>* u) const noexcept;
  /// Standard deviation of the mean of |R|² over all cells, relative to the mean, for white noise.
  double chance(bool real) const noexcept;

  /// The cells of the components' sum, indexed [set·kWaveOffsets + c].
  std::vector<std::complex<double>> cells(const std::vector<DiscoveryComponent>& components) const;

 private:
  static constexpr std::int64_t kDigit = 16, kMaxSets = 16;
  struct Dimension {
    std::int64_t indices = 1;                  ///< pieces along the last dimension, samples along others
    std::int64_t step = 1;                     ///< samples from one index to the next
    std::int64_t weight = 1;                   ///< factor of an index in the piece's number, modulo sets()
    std::vector<std::complex<double>> phases;  ///< kDigit for each digit
  };

  struct Sums;
  void add_up(int d, const double* f, std::int64_t indices, Sums& sums) const;
  void weigh(const double* const* f, Sums& full, Sums& cut) const;
  void join(const Sums& outer, Sums& sums) const;
  static std::complex<double> along(const Dimension& own, std::int64_t i, int from) noexcept;

  Shape shape_;
  std::int64_t sets_ = 4, columns_ = 1;
  Dimension dimensions_[3];
};

struct WholeSignal {
  double energy = 0;           ///< Σ|scale · x|²
  std::vector<double> re, im;  ///< cells of scale · x, as RandomFold::cells() orders them
};

/// Adds `elements` contiguous elements in host memory, which begin with piece `first`. Only the last piece
/// may be shorter than the fold's columns.
void add_pieces(const void* samples, ElementType type, std::int64_t first, std::int64_t elements,
                double scale, const RandomFold& fold, WholeSignal& whole);

}  // namespace sfft::detail
