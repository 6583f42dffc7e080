// SPDX-License-Identifier: Apache-2.0
// Stage "witness" of blind discovery: the values of a sum of waves at scattered positions.
#pragma once

#include <cstdint>

#include "kernels/base/types.hpp"

namespace sfft::detail::cpu {

/// Integer grid points as doubles, dimension by dimension; coordinates below 2^50.
struct WavePoints {
  const double* at[3];
  std::int64_t count;
};

struct WaveGrid {
  double extents[3];
  int rank;
};

inline constexpr std::int64_t kWaveBlock = 16;    ///< positions come in multiples of it
inline constexpr std::int64_t kWaveOffsets = 32;  ///< positions of the second set

/// The values of `waves` waves at two sets of positions, as roots() writes them.
template <class Real>
struct WaveTables {
  const Real *first_re, *first_im;    ///< wave i at anchor a: [i*anchors + a]
  const Real *second_re, *second_im;  ///< at offset b: [i*kWaveOffsets + b]
  std::int64_t waves, anchors;
};

/// Sums over samples x and their residues r = x − predicted.
struct WaveRest {
  double seen = 0;      ///< Σ|x|²
  double energy = 0;    ///< Σ|r|²
  double squares = 0;   ///< Σ|r|⁴
  double outliers = 0;  ///< samples with |r|² above limit + share · |x|², or NaN
};

template <class Real>
struct WaveKernels {
  /// (re, im)[i*positions.count + j] = values_i · exp(2 pi i Σ_d f_d t_d / n_d) of wave i at position j;
  /// without values (null) they count as 1.
  void (*roots)(const WavePoints& waves, const double* value_re, const double* value_im,
                const WavePoints& positions, const WaveGrid& grid, Real* re, Real* im);
  /// (re, im)[a*kWaveOffsets + b] += Σ_i first_i[a] · second_i[b], the sum over these waves in the precision
  /// of the tables; the imaginary part is skipped if `im` is null.
  void (*sums)(const WaveTables<Real>& tables, double* re, double* im);
  /// Adds to `rest`; the imaginary parts are null for real samples. `count` is a multiple of kWaveBlock.
  void (*compare)(const Real* re, const Real* im, const double* predicted_re, const double* predicted_im,
                  std::int64_t count, double limit, double share, WaveRest& rest);
  /// Sums over `count` elements whose parts (one if real, two if complex) are v: Σ(scale · v)²,
  /// Σ scale · v · first and Σ scale · v · second, with one weight of each for every part; indexed by
  /// ElementType.
  void (*whole[6])(const void* samples, std::int64_t count, double scale, const double* first,
                   const double* second, double sums[3]);
  /// The largest bit pattern of |x| as an unsigned integer: that of the largest |x|, or of an infinity or
  /// NaN if present.
  std::uint64_t (*largest)(const Real* x, std::int64_t count);
};

template <class Real>
const WaveKernels<Real>& wave_kernels() noexcept;
template <>
const WaveKernels<float>& wave_kernels<float>() noexcept;
template <>
const WaveKernels<double>& wave_kernels<double>() noexcept;

}  // namespace sfft::detail::cpu
