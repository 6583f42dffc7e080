// SPDX-License-Identifier: Apache-2.0
// Stage "witness" of discovery: the values of a sum of waves at scattered positions.
#pragma once

#include <cstdint>

#include "kernels/base/math/elements.hpp"

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
inline constexpr std::int64_t kFoldRows = 16;     ///< rows that one call of fold() adds up

/// The values of `waves` waves at two sets of positions, in the layout that roots() writes.
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

/// Indices i < `indices`; index i is at position i·step on a circle of `extent`. Its phase is the product of
/// phases[16·digit + value] over its hexadecimal digits, lowest first; phases are complex numbers as pairs.
/// It belongs to set weight·i mod sets, where sets divides 16.
struct DigitPhases {
  const double* phases;
  std::int64_t digits, indices;
  std::int64_t step, extent;
  std::int64_t weight, sets;
};

template <class Real>
struct WaveKernels {
  /// (re, im)[i*positions.count + j] = values_i · exp(2 pi i Σ_d f_d t_d / n_d) of wave i at position j;
  /// without values (null), each value is 1.
  void (*roots)(const WavePoints& waves, const double* value_re, const double* value_im,
                const WavePoints& positions, const WaveGrid& grid, Real* re, Real* im);
  /// (re, im)[a*kWaveOffsets + b] += Σ_i first_i[a] · second_i[b], the sum over these waves in the precision
  /// of the tables; the imaginary part is skipped if `im` is null.
  void (*sums)(const WaveTables<Real>& tables, double* re, double* im);
  /// Adds to `rest`; the imaginary parts are null for real samples. `count` is a multiple of kWaveBlock.
  void (*compare)(const Real* re, const Real* im, const double* predicted_re, const double* predicted_im,
                  std::int64_t count, double limit, double share, WaveRest& rest);
  /// Sums rows of samples, each times its weight: (re, im)[c] += Σ_r weight_r · scale · x_r[c] for c <
  /// columns <= kWaveOffsets and r < rows <= kFoldRows. Rows begin `pitch` elements apart. `energy` grows by
  /// Σ|scale · x|². Within a call, sums have the precision of the element type, or float for integers up to
  /// 16 bits and double for longer ones.
  /// Indexed by ElementType.
  void (*fold[kElementTypes])(const void* samples, std::int64_t rows, std::int64_t pitch,
                              std::int64_t columns, double scale, const double* weight_re,
                              const double* weight_im, double* re, double* im, double& energy);
  /// (re, im)[set*kWaveBlock + l] = Σ phase(i) exp(2 pi i f_l·i·step/extent) over the indices of a set, for
  /// kWaveBlock integer frequencies f.
  void (*digit_sums)(const double* f, const DigitPhases& digits, double* re, double* im);
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
