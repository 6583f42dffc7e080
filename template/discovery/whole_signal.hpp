// SPDX-License-Identifier: Apache-2.0
// Results of one pass over all samples: the energy, and the transform at a frequency
// off the grid. A change of a few samples that keeps the energy, such as a flipped
// sign, still changes the transform.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "kernels/base/types.hpp"
#include "template/discovery/grid_point.hpp"
#include "template/discovery/random.hpp"

namespace sfft::detail {

/// w(t) = exp(-2 pi i Σ_d g_d t_d / n_d) at a frequency g drawn at random, each g_d at least a quarter away
/// from the integers.
class OffGridWave {
 public:
  /// `real`: the signal's elements have one part, not two.
  OffGridWave(const Shape& shape, bool real, BlindRandom& random);

  /// Factor of w along dimension d.
  std::complex<double> along(int d, std::int64_t t) const noexcept;
  /// (1/N) Σ_t exp(2 pi i Σ_d f_d t_d / n_d) w(t): the contribution of a component of value 1 at f.
  std::complex<double> overlap(const GridPoint& f) const noexcept;

  /// Samples of a row that share one table of weights.
  static constexpr std::int64_t kRun = 256;
  /// Re and Im of Σ w x are sums over the parts of x times these weights, for the first kRun samples of a row
  /// along the last dimension (fewer if the row is shorter); parts of complex samples are interleaved.
  const double* weights_re() const noexcept { return weights_re_.data(); }
  const double* weights_im() const noexcept { return weights_im_.data(); }
  const Shape& shape() const noexcept { return shape_; }

 private:
  struct Dimension {
    std::int64_t numerator = 0;  ///< g_d in units of 1/kUnits
    std::vector<std::complex<double>> fine, coarse;
  };
  Shape shape_;
  Dimension dimensions_[3];
  std::vector<double> weights_re_, weights_im_;
};

struct WholeSignal {
  double energy = 0;            ///< Σ|scale · x|²
  std::complex<double> wave{};  ///< Σ scale · x · w
};

/// Adds one row (all of the last dimension) of elements in host memory; `row` counts rows in row-major order.
void add_row(const void* samples, ElementType type, std::int64_t row, double scale, const OffGridWave& wave,
             WholeSignal& whole);

}  // namespace sfft::detail
