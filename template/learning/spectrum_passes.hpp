// SPDX-License-Identifier: Apache-2.0
// A dense spectrum that is computed in parts and passed to a selection while each part is in cache.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cpu/stages/spectrum_scan.hpp"
#include "kernels/dense/cpu/grid_fft.hpp"
#include "kernels/dense/cpu/two_pass_fft.hpp"
#include "kernels/dense/problem/engine.hpp"
#include "kernels/runtime/memory_budget.hpp"
#include "sfft/types.hpp"
#include "template/learning/axis_runs.hpp"

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

/// Two passes over memory; the second needs the complete result of the first. Parts of a pass may run
/// concurrently, each with its own scratch. Immutable, thread-safe. Elements are numbered as in
/// SpectrumLayout.
class SpectrumPasses {
 public:
  virtual ~SpectrumPasses() = default;

  virtual std::int64_t first_parts() const noexcept = 0;
  virtual std::int64_t second_parts() const noexcept = 0;
  /// Whether each part of the second pass is a fair sample of all frequencies.
  virtual bool parts_are_alike() const noexcept { return false; }
  /// Sizes of the memory between the passes and of one call's scratch, both 64-byte aligned.
  virtual std::size_t between_bytes() const noexcept = 0;
  virtual std::size_t scratch_bytes() const noexcept = 0;

  /// `signal`: all elements of the shape, contiguous.
  virtual void first(std::int64_t part, const void* signal, ElementType type, std::byte* between,
                     std::byte* scratch) const = 0;
  virtual void second(std::int64_t part, std::byte* between, std::byte* scratch,
                      PartialSelection& selection) const = 0;
  /// The second pass without a selection: writes the coefficients to their places in `spectrum`.
  virtual void store(std::int64_t part, std::byte* between, std::byte* scratch,
                     std::complex<double>* spectrum) const = 0;
};

/// The passes for a shape. The process keeps those of the last few shapes if their tables are small: building
/// the tables of a short signal takes as long as its transform. Thread-safe.
std::shared_ptr<const SpectrumPasses> spectrum_passes(const Shape& shape, bool real);

/// Blocks consist of whole columns along the slowest of two or three dimensions, or of a run of a 1D
/// spectrum, whose slowest dimension counts as 1.
class BlockCells {
 public:
  BlockCells(const Shape& shape, bool real);

  std::int64_t slabs() const noexcept { return slabs_; }
  std::int64_t columns() const noexcept { return columns_; }  ///< elements of a slab

  /// Element m of column first_column + c is at [m width + c], c < width; columns c < skipped do not count.
  struct Block {
    const double *re, *im;
    std::int64_t first_column, width, skipped;
  };
  /// `offsets` is scratch for slabs() × width elements.
  void scan(const Block& block, std::int64_t* offsets, PartialSelection& selection) const;

 private:
  /// Columns first … end − 1 in one cell. If `conjugates`, the conjugates of each column are stored as well,
  /// in itself or in another column.
  struct ColumnRun {
    std::int64_t first, end;
    std::int32_t cell;
    bool conjugates;
  };
  void scan_conjugates(const Block& block, std::int64_t column, std::int32_t cell,
                       PartialSelection& selection) const;

  bool real_;
  std::int64_t slabs_, rows_, row_points_, columns_;
  std::int32_t cells_;  ///< in a slab
  std::vector<AxisRun> slab_runs_;
  std::vector<ColumnRun> column_runs_;
};

/// Processes slabs, then blocks of columns.
class GridPasses final : public SpectrumPasses {
 public:
  GridPasses(const Shape& shape, bool real) : cells_(shape, real), fft_(shape, real) {}

  std::int64_t first_parts() const noexcept override { return fft_.slabs(); }
  std::int64_t second_parts() const noexcept override { return fft_.blocks(); }
  std::size_t between_bytes() const noexcept override;
  std::size_t scratch_bytes() const noexcept override;
  void first(std::int64_t part, const void* signal, ElementType type, std::byte* between,
             std::byte* scratch) const override;
  void second(std::int64_t part, std::byte* between, std::byte* scratch,
              PartialSelection& selection) const override;
  void store(std::int64_t part, std::byte* between, std::byte* scratch,
             std::complex<double>* spectrum) const override;

 private:
  BlockCells cells_;
  GridFft fft_;
};

/// The passes for any 1D signal: the whole transform, then runs of its spectrum.
class WholePasses final : public SpectrumPasses {
 public:
  WholePasses(const Shape& shape, bool real)
      : cells_(shape, real), engine_(make_built_in_engine<double>(shape, real)) {}

  std::int64_t first_parts() const noexcept override { return 1; }
  std::int64_t second_parts() const noexcept override;
  std::size_t between_bytes() const noexcept override;
  std::size_t scratch_bytes() const noexcept override;
  void first(std::int64_t part, const void* signal, ElementType type, std::byte* between,
             std::byte* scratch) const override;
  void second(std::int64_t part, std::byte* between, std::byte* scratch,
              PartialSelection& selection) const override;
  void store(std::int64_t part, std::byte* between, std::byte* scratch,
             std::complex<double>* spectrum) const override;

 private:
  BlockCells cells_;
  std::unique_ptr<const DenseEngine<double>> engine_;
};

/// The passes for long 1D signals: a TwoPassFft, and the cells of its coefficients.
class LinePasses final : public SpectrumPasses {
 public:
  LinePasses(std::int64_t points, bool real);

  std::int64_t first_parts() const noexcept override { return fft_.parts(); }
  std::int64_t second_parts() const noexcept override { return fft_.groups(); }
  bool parts_are_alike() const noexcept override { return true; }
  std::size_t between_bytes() const noexcept override { return fft_.intermediate_reals() * sizeof(double); }
  std::size_t scratch_bytes() const noexcept override { return offsets_bytes() + fft_scratch_bytes(); }
  void first(std::int64_t part, const void* signal, ElementType type, std::byte* between,
             std::byte* scratch) const override;
  void second(std::int64_t part, std::byte* between, std::byte* scratch,
              PartialSelection& selection) const override;
  void store(std::int64_t part, std::byte* between, std::byte* scratch,
             std::complex<double>* spectrum) const override;

 private:
  /// The end of a run of frequencies, as row + rows × column.
  struct RunEnd {
    std::int64_t column, row;
    std::int32_t cell;
  };

  std::size_t fft_scratch_bytes() const noexcept { return fft_.scratch_reals() * sizeof(double); }
  std::size_t offsets_bytes() const noexcept {
    return static_cast<std::size_t>(8 * fft_.columns()) * sizeof(std::int64_t);
  }
  /// Offers the frequencies of a row (lane) that holds its own conjugates.
  void scan_own_conjugates(const TwoPassFft<double>::Group& group, int lane,
                           PartialSelection& selection) const;

  std::int64_t points_;
  bool real_;
  TwoPassFft<double> fft_;
  std::vector<RunEnd> runs_;
};

}  // namespace sfft::detail
