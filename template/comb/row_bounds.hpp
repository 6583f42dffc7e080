// SPDX-License-Identifier: Apache-2.0
// Error bounds for delays in few rows of an image, interpolated from those of regular grids.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace sfft::detail {

class RowBounds {
 public:
  explicit RowBounds(std::size_t grids = 0) : grids_(grids) {}

  /// Sets grid `number`: its rows, its samples per row and its bound on Σ E|error|², all above 0.
  void set(std::size_t number, double rows, double in_a_row, double bound) {
    grids_[number] = {std::log(rows), std::log(in_a_row), std::log(bound)};
  }
  /// The bound for this number of rows and of samples per row, interpolated between all grids with weights
  /// that fall with the distance; `other` if there is no grid.
  double bound(double rows, double in_a_row, double other) const {
    const double x = std::log(rows), y = std::log(in_a_row);
    double sum = 0, weights = 0;
    for (const Grid& grid : grids_) {
      const double distance = (grid.rows - x) * (grid.rows - x) + (grid.in_a_row - y) * (grid.in_a_row - y);
      const double weight = 1 / (1e-6 + distance * distance * distance);
      sum += weight * (grid.bound + grid.rows - x + grid.in_a_row - y);
      weights += weight;
    }
    return weights > 0 ? std::exp(sum / weights) : other;
  }

 private:
  struct Grid {
    double rows, in_a_row, bound;  ///< logarithms
  };
  std::vector<Grid> grids_;
};

}  // namespace sfft::detail
