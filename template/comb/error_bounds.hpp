// SPDX-License-Identifier: Apache-2.0
// Bounds on the errors of combs before any delays are searched: for many grids and numbers of delays from a
// few coefficients (RoughLook), for random delays (RandomBounds), and for delays in few rows of an image
// (RowBounds).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "template/comb/comb_model.hpp"
#include "template/comb/folding.hpp"

namespace sfft::detail {

/// The tail power that aliases onto one frequency, for many grids at once. A rough look at a few coefficients
/// therefore needs no tables of all buckets.
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

/// Bounds the errors of many grids and numbers of delays from a few coefficients, in microseconds.
class RoughLook {
 public:
  /// The folding must outlive this object; it need not be prepared for any grid.
  explicit RoughLook(const Folding& folding) noexcept : folding_(folding) {}
  /// Adds a member of the support to examine.
  void add(std::size_t member, double power) {
    members_.push_back(member);
    power_.push_back(power);
  }

  struct Entry {
    std::size_t grid;
    std::int64_t delays;
    /// Bound on the squared relative error with random delays, assuming equally full buckets.
    double bound = 0;
  };
  /// Sets the entries' bounds, and resolution(); uses the pool's threads, if given.
  void look(std::span<const Folding::Grid> grids, std::span<Entry> entries, cpu::ThreadPool* pool);

  /// A delay search resolves near aliases, so errors stay below the bounds if near aliases hold much of the
  /// tail. With r delays and a share s of the tail in near aliases, errors were 0.7 to 1 times r^(−0.4 s)
  /// times the bound, in 25,000 searches on 15 recordings and 28 synthetic signals. The share hardly depends
  /// on the grid; this is 0.4 s for the median grid.
  double resolution() const noexcept { return resolution_; }

 private:
  struct Sums;
  double near_share(std::size_t member, const Folding::Grid& grid, double tail) const;

  const Folding& folding_;
  std::vector<std::size_t> members_;
  std::vector<double> power_;
  double resolution_ = 0;
};

/// A bound on Σ E|error|² with r random delays, ignoring phases: Σ min(tail/(r + 1 − members), power), the
/// denominator at least 1. A coefficient contributes its power up to some r and its tail beyond, so one pass
/// over the coefficients serves every r.
class RandomBounds {
 public:
  /// Per coefficient: the members in its bucket, the tail that aliases onto it, its power.
  RandomBounds(std::span<const std::int32_t> members_of, std::span<const double> tails,
               std::span<const double> power) {
    std::int32_t max = 1;
    for (const std::int32_t members : members_of) max = std::max(max, members);
    begins_.assign(static_cast<std::size_t>(max) * kSteps, 0.0);
    tail_.assign(static_cast<std::size_t>(max), 0.0);
    for (std::size_t i = 0; i < tails.size(); ++i) {
      const auto members = static_cast<std::size_t>(members_of[i]);
      // Up to this denominator the power is the smaller term.
      const double by_power = std::min(tails[i] / power[i], static_cast<double>(kMax));
      // Written so that NaN (0/0) gives 0.
      const std::size_t last = by_power >= 1 ? static_cast<std::size_t>(by_power) + members - 1 : 0;
      const std::size_t begin = std::min(last + 1, kSteps - 1);
      powers_[begin - 1] += power[i];
      begins_[(members - 1) * kSteps + begin] += tails[i];
    }
    for (std::size_t r = kSteps - 1; r > 0; --r) powers_[r - 1] += powers_[r];
  }

  /// The bounds for r = 1, 2, … kMaxDelays in turn.
  double next() {
    ++r_;
    double sum = powers_[r_];
    for (std::size_t m = 0; m < tail_.size(); ++m) {
      tail_[m] += begins_[m * kSteps + r_];
      sum += tail_[m] / (r_ > m + 1 ? static_cast<double>(r_ - m) : 1.0);
    }
    return sum;
  }

 private:
  static constexpr std::size_t kMax = CombModel::kMaxDelays, kSteps = 2 * kMax + 2;
  std::array<double, kSteps> powers_{};  ///< Σ over coefficients that contribute their power at r
  std::vector<double> begins_;           ///< tails that start to contribute, per [members − 1][r]
  std::vector<double> tail_;             ///< contributing tails, per members − 1
  std::size_t r_ = 0;
};

/// Error bounds for delays in few rows of an image, interpolated from those of regular grids.
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
