// Which frequencies a template keeps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::detail {

/// Mean power of every distinct frequency of a signal, in the layout of its dense spectrum: all N for a
/// complex signal, (n1, …, nD/2 + 1) for a real one.
struct PowerSpectrum {
  Shape shape;
  bool real;
  std::vector<double> power;

  std::int64_t row_points() const noexcept;  ///< of the last dimension as stored
  /// The flat index in the full grid of stored element i.
  std::int64_t flat_index(std::int64_t i) const noexcept;
  /// Whether stored element i stands for its conjugate pair: real spectra store both halves of the planes
  /// f_D = 0 and f_D = n_D/2, and the smaller flat index represents.
  bool representative(std::int64_t i) const noexcept;
  /// 2 where the full spectrum holds a distinct conjugate of stored element i, else 1.
  double multiplicity(std::int64_t i) const noexcept;
  std::int64_t distinct() const noexcept;  ///< number of representatives
};

/// Σ over the full grid without f = 0.
double total_energy(const PowerSpectrum& spectrum);

/// Each returns stored indices, ascending. Ties go to the smaller index.
std::vector<std::int64_t> select_largest(const PowerSpectrum& spectrum, std::int64_t k);
/// The fewest with this share of total_energy(); f = 0 is always kept when not zero.
std::vector<std::int64_t> select_energy(const PowerSpectrum& spectrum, double share);
/// All with |X| above sigmas standard deviations of the noise floor, taken from the median power; f = 0 is
/// always kept when not zero. A floor of zero (an exactly sparse signal) counts as rounding noise.
std::vector<std::int64_t> select_threshold(const PowerSpectrum& spectrum, double sigmas);

}  // namespace sfft::detail
