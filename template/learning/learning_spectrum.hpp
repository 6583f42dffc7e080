// SPDX-License-Identifier: Apache-2.0
// The spectra of the learning frames, in host or GPU memory, and the queries that learning makes.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::detail {

/// Stores all N frequencies of a complex signal, (n1, …, nD/2 + 1) of a real one.
struct SpectrumLayout {
  Shape shape{1};
  bool real = false;

  std::int64_t row_points() const noexcept;  ///< elements of the last dimension as stored
  std::int64_t points() const noexcept;      ///< stored elements
  /// The linear index of stored element i in the full grid.
  std::int64_t linear_index(std::int64_t i) const noexcept;
  /// Whether stored element i represents its conjugate pair: real spectra store both halves of the planes f_D
  /// = 0 and f_D = n_D/2, and the smaller linear index represents the pair.
  bool representative(std::int64_t i) const noexcept;
  /// 2 if the full spectrum holds a distinct conjugate of stored element i, else 1.
  double multiplicity(std::int64_t i) const noexcept;
  std::int64_t distinct() const noexcept;  ///< number of representatives
};

/// One stored element of the mean power spectrum.
struct RankedPower {
  std::int64_t index;
  double power;
};

/// For every distinct frequency: mean power over the frames, its change since the first frame, and the first
/// frame's values. Indices are those of stored elements, and only representatives (SpectrumLayout) count.
class LearningSpectrum {
 public:
  explicit LearningSpectrum(const SpectrumLayout& layout) : layout_(layout) {}
  virtual ~LearningSpectrum() = default;
  LearningSpectrum(const LearningSpectrum&) = delete;
  LearningSpectrum& operator=(const LearningSpectrum&) = delete;

  const SpectrumLayout& layout() const noexcept { return layout_; }
  /// The functions below return X divided by 2^exponent, and powers divided by 4^exponent. It is 0 unless the
  /// frames' powers would leave the range of double precision.
  virtual int exponent() const noexcept { return 0; }

  /// Σ multiplicity × mean power over each cell of the shape's CellGrid; cell 0 holds f = 0 alone.
  virtual std::vector<double> power_sums() const = 0;
  /// The same for the mean |X_t − X_0|² of the later frames; needs at least two frames.
  virtual std::vector<double> change_sums() const = 0;
  /// The rank-th largest power, 1 the largest.
  virtual double power_at_rank(std::int64_t rank) const = 0;
  /// The `count` largest powers at index `first` and above, in ascending order of index; ties go to the
  /// smaller index.
  virtual std::vector<RankedPower> largest(std::int64_t first, std::int64_t count) const = 0;
  /// Approximate number of the largest powers without f = 0 that hold this energy; 0 if unknown.
  virtual std::int64_t count_with_energy(double energy) const {
    static_cast<void>(energy);
    return 0;
  }
  /// All elements at index `first` and above with more power than `level`, in ascending order of index.
  virtual std::vector<RankedPower> above(std::int64_t first, double level) const = 0;
  /// X of the first frame at the chosen elements.
  virtual std::vector<std::complex<double>> first_values(const std::vector<RankedPower>& chosen) const = 0;
  /// Excludes these elements from all later sums and ranks.
  virtual void remove(const std::vector<RankedPower>& chosen) = 0;

 private:
  SpectrumLayout layout_;
};

}  // namespace sfft::detail
