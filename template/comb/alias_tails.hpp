// SPDX-License-Identifier: Apache-2.0
// Computes the tail power that aliases onto one frequency, for many grids at once. A rough look at a few
// coefficients therefore needs no tables of all buckets.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "template/comb/folding.hpp"

namespace sfft::detail {

class AliasTails {
 public:
  /// The folding must outlive this object; the grids need not, and the folding need not be prepared for them.
  AliasTails(const Folding& folding, std::span<const Folding::Grid> grids);

  /// Scratch for of(), one per thread.
  struct Scratch {
    std::vector<double> counts;               ///< for every side of the first dimension
    std::array<std::vector<double>, 3> sums;  ///< for the other dimensions
  };
  /// tails[g] = Σ tail(f') over all f' ≡ f (mod grid g), f itself included, for one frequency f.
  void of(const std::array<std::int64_t, 3>& f, Scratch& scratch, std::span<double> tails) const;

 private:
  /// Sums over one dimension, for one side of grids, after the later dimensions have been summed.
  struct Sum {
    std::int64_t side;
    std::size_t from;  ///< number of the sum over the dimension after this one
  };

  const Folding& folding_;
  std::size_t first_cells_;               ///< padded
  std::vector<double> tail_;              ///< [last cell] … [first cell], rows of the first padded
  std::array<std::vector<Sum>, 3> sums_;  ///< for all dimensions but the first
  std::vector<std::int64_t> sides_;       ///< in the first dimension
  std::vector<int> side_at_, sum_at_;     ///< per grid
  std::vector<double> aliases_;           ///< per grid, for a white tail
};

}  // namespace sfft::detail
