// SPDX-License-Identifier: Apache-2.0
// What aliases onto one frequency, in many grids at a time: a rough look at some coefficients needs no tables
// of all buckets.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "template/comb/folding.hpp"

namespace sfft::detail {

class AliasTails {
 public:
  /// The folding must stay, the grids need not; its buckets need not be prepared for them.
  AliasTails(const Folding& folding, std::span<const Folding::Grid> grids);

  /// What of() works in; one for each thread.
  struct Scratch {
    std::vector<double> counts;               ///< of every side of the first dimension
    std::array<std::vector<double>, 3> sums;  ///< of the other dimensions
  };
  /// tails[g] = Σ tail(f') over all f' ≡ f (mod grid g), f itself included, of one frequency of the shape.
  void of(const std::array<std::int64_t, 3>& f, Scratch& scratch, std::span<double> tails) const;

 private:
  /// Sums over one dimension, for one side of grids, of what is left when the later dimensions are summed.
  struct Sum {
    std::int64_t side;
    std::size_t from;  ///< number of the sum over the dimension after this one
  };

  const Folding& folding_;
  std::size_t first_cells_;               ///< filled up
  std::vector<double> tail_;              ///< [last cell] … [first cell], rows of the first filled up
  std::array<std::vector<Sum>, 3> sums_;  ///< of the dimensions but the first
  std::vector<std::int64_t> sides_;       ///< of the first dimension
  std::vector<int> side_at_, sum_at_;     ///< per grid
  std::vector<double> aliases_;           ///< per grid, where the tail is white
};

}  // namespace sfft::detail
