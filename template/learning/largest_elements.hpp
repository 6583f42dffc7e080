// SPDX-License-Identifier: Apache-2.0
// Selects the k largest coefficients of a spectrum that arrives in parts and is not stored. Sums the powers
// of all others over the cells of the envelope.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "kernels/base/memory_budget.hpp"
#include "kernels/cpu/stages/spectrum_scan.hpp"

namespace sfft::detail {

/// One stored element of a spectrum that may be among the largest.
struct SpectrumElement {
  double power;
  std::int64_t index;  ///< of the stored element (SpectrumLayout)
  std::complex<double> value;
  std::int32_t cell;
  std::int32_t multiplicity;
};

/// A rectangle of split values whose elements share one cell and one multiplicity.
struct SpectrumRegion {
  const double *re, *im;
  std::int64_t stride, rows, columns;
  std::int32_t cell, multiplicity;
};

/// The largest elements of one part, and sums over the rest. No element is subtracted from a sum that
/// contains it, so the sums stay accurate even if large powers are 10^30 times the others.
class PartialSelection {
 public:
  /// Powers below `level` are known from other parts to be too small.
  PartialSelection(std::size_t cells, std::int64_t k, double level);

  /// Calls candidate(offset) for elements that may be among the largest; it may offer() them. Adds the others
  /// to the sums. `offsets` is scratch for rows × columns elements.
  template <class Candidate>
  void scan(const SpectrumRegion& region, std::int64_t* offsets, const Candidate& candidate) {
    const cpu::SpectrumScan result = kernels_->scan(region.re, region.im, region.stride, region.rows,
                                                    region.columns, scan_level(), offsets);
    reject(result.sum, result.largest, region.cell, region.multiplicity);
    for (std::int64_t i = 0; i < result.found; ++i) candidate(offsets[i]);
  }
  void offer(std::int64_t index, const std::complex<double>& value, std::int32_t cell,
             std::int32_t multiplicity);

  /// X at f = 0, from the part that has it.
  std::complex<double> mean{0, 0};

 private:
  friend class LargestElements;
  double scan_level() const noexcept;
  void reject(double sum, double largest, std::int32_t cell, std::int32_t multiplicity) {
    sums_[static_cast<std::size_t>(cell)] += multiplicity * sum;
    if (largest > largest_outside_) largest_outside_ = largest;
  }
  /// If there are many more than k + spare elements, drops some that are not among the k largest.
  void make_room(std::int64_t spare);
  /// Guesses a level from a sample, and checks it. False if none is useful.
  bool raise_level();
  /// All powers, partitioned: the power of this rank is in its place, the larger ones are before it.
  std::vector<double> powers_around(std::size_t rank) const;
  /// Raises the level to the power of this rank and drops smaller elements; the largest has rank 0.
  void raise_level_to(std::size_t rank);
  /// Keeps the k largest; among equal powers those of smaller index.
  void keep_largest();
  template <class Unwanted>
  void drop(const Unwanted& unwanted);

  const cpu::SpectrumScanKernels* kernels_;
  std::int64_t k_;
  double level_;
  CountedVector<SpectrumElement> elements_;
  std::vector<double> sums_;
  double largest_outside_ = 0;
};

/// Combines parts. The order of sums depends on the parts that share a level, so parts are combined in the
/// same groups and order for any number of threads.
class LargestElements {
 public:
  LargestElements(std::size_t cells, std::int64_t k) : all_(cells, k, kNothing) {}

  PartialSelection begin_part() const { return {all_.sums_.size(), all_.k_, all_.level_}; }
  void take(PartialSelection&& part);
  /// Starts later parts with a level that the parts so far have established.
  void raise_level();
  /// Starts later parts with a level that somewhat more than k elements will reach if the parts so far,
  /// `share` of all, are a fair sample. If they were not, level_was_too_high() says so after finish().
  void suggest_level(double share);
  /// Ends the selection: sorts the largest by index.
  void finish();
  bool level_was_too_high() const noexcept {
    return suggested_ && static_cast<std::int64_t>(all_.elements_.size()) < all_.k_;
  }

  const CountedVector<SpectrumElement>& largest() const noexcept { return all_.elements_; }
  /// Σ multiplicity × power over each cell, without the largest.
  const std::vector<double>& sums() const noexcept { return all_.sums_; }
  double largest_outside() const noexcept { return all_.largest_outside_; }
  const std::complex<double>& mean() const noexcept { return all_.mean; }

 private:
  static constexpr double kNothing = -1;  ///< below every power
  PartialSelection all_;
  bool suggested_ = false;
};

}  // namespace sfft::detail
