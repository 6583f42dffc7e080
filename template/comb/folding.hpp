// SPDX-License-Identifier: Apache-2.0
// Folds a template's spectrum into the buckets of any grid: residues of its frequencies and sums of its tail,
// each computed once per divisor.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "template/data/support_set.hpp"

namespace sfft::detail {

namespace cpu {
class ThreadPool;
}

class Folding {
 public:
  using Grid = std::array<std::int64_t, 3>;  ///< buckets along each dimension; they divide the shape
  static constexpr std::int64_t kMaxBuckets = (std::int64_t{1} << 31) - 1;  ///< in a grid

  Folding(const SupportSet& support, const SpectralPrior& prior);

  /// Computes the tables that the functions below need for a grid. Several threads may then call those at the
  /// same time.
  void prepare(const Grid& buckets);
  /// The same for many grids, in less time; uses the pool's threads, if given. Without `members` it prepares
  /// only for tails_of() and buckets_of().
  void prepare(std::span<const Grid> grids, cpu::ThreadPool* pool = nullptr, bool members = true);
  /// The linear bucket index of each member of the support.
  std::vector<std::int32_t> buckets_of_members(const Grid& buckets) const;
  /// The same into reused memory.
  void buckets_of_members(const Grid& buckets, std::vector<std::int32_t>& flat) const;
  /// The linear bucket indices of some members, given by their numbers.
  void buckets_of(std::span<const std::size_t> members, const Grid& buckets,
                  std::vector<std::int32_t>& flat) const;
  /// Tail power that folds into each of these buckets (linear indices): Σ tail(f) over all f ≡ b, the
  /// template's own frequencies included.
  std::vector<double> tails_of(std::span<const std::int32_t> flat, const Grid& buckets) const;
  /// Scratch of tails_of().
  struct Scratch {
    std::vector<int> first, others;
  };
  void tails_of(std::span<const std::int32_t> flat, const Grid& buckets, Scratch& scratch,
                std::vector<double>& tails) const;

  /// Tail power that folds into every bucket, row-major.
  std::vector<double> tails(const Grid& buckets) const;

  const SupportSet& support() const noexcept { return support_; }
  const SpectralPrior& prior() const noexcept { return prior_; }
  const CellGrid& cells() const noexcept { return cells_; }
  bool white() const noexcept { return white_; }  ///< the tail has power 1 everywhere, at an unknown scale
  /// The tail model's power at each member's own frequency.
  std::span<const double> tail_at_members() const noexcept { return tail_at_members_; }

 private:
  using Tables = std::map<std::int64_t, std::vector<double>>;  ///< by divisor

  void add_residues(std::size_t d, std::int64_t divisor);
  void add_tails(const Grid& buckets);
  const std::vector<double>& counts(std::size_t d, std::int64_t divisor);
  std::vector<double> fold_last(std::int64_t divisor) const;

  const SupportSet& support_;
  const SpectralPrior& prior_;
  CellGrid cells_;
  bool white_;
  std::vector<double> tail_at_members_;
  std::array<std::vector<std::uint32_t>, 3> coordinates_;  ///< of members, if all are below 2^31
  std::vector<double> tail_;                               ///< for one dimension: the tail per cell, padded
  std::vector<double> columns_;  ///< for two dimensions: the tail per [cell of the last][cell of the first]
  std::array<std::map<std::int64_t, std::vector<std::int32_t>>, 3> residues_;  ///< by dimension and divisor
  /// Number of a dimension's frequencies per [residue][cell], rows padded; only for the first two dimensions.
  std::array<Tables, 2> counts_;
  /// By the divisors of all dimensions but the first: the tail folded along these, per [bucket][cell of the
  /// first].
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<double>> folded_;
};

}  // namespace sfft::detail
