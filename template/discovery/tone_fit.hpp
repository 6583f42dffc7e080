// SPDX-License-Identifier: Apache-2.0
// Fits one tone of real-valued frequency to the coefficients around a peak. The first guess correlates them
// with the kernels of cosine windows, the generalisation of the two-bin interpolators of Jacobsen and
// Kootsookos (IEEE Signal Processing Magazine 24, 2007); Gauss-Newton steps turn it into the least-squares
// estimate, which reaches the Cramér-Rao bound (Rife and Boorstyn, IEEE Transactions on Information Theory
// 20, 1974).
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <optional>

#include "sfft/types.hpp"
#include "template/discovery/grid_point.hpp"
#include "template/discovery/tone_kernel.hpp"

namespace sfft::detail {

/// The samples behind a spectrum. Along each axis they are every `stride`-th of the `extent` samples that a
/// window spans, from the first one on; `points` in all.
struct ToneGrid {
  int rank = 1;
  std::array<double, 3> points{1, 1, 1}, stride{1, 1, 1}, extent{1, 1, 1};

  /// All samples of a signal.
  static ToneGrid whole(const Shape& shape) noexcept;
};

/// A tone a·exp(2πi Σ_d f_d t_d / n_d) under a window; for a real signal, this tone plus its conjugate.
struct ToneModel {
  std::array<double, 3> extents{1, 1, 1};
  int rank = 1;
  bool real = false;
  std::array<int, 3> window{0, 0, 0};      ///< index into kCosineWindow
  std::array<double, 3> spacing{1, 1, 1};  ///< distance of the window's terms in bins: n over its period
  std::array<double, 3> frequency{0, 0, 0};
  std::complex<double> value;  ///< a times the number of points

  /// Its coefficient at f, with or without the conjugate tone's.
  std::complex<double> at(const GridPoint& f, bool with_conjugate = true) const noexcept;
  bool windowed() const noexcept { return window[0] + window[1] + window[2] > 0; }
};

/// A fit uses coefficients up to this distance from the peak along each axis.
inline constexpr int kToneReach = 4;
inline constexpr int kMaxToneBins = 1 + 3 * 2 * kToneReach;

/// A coefficient of the cross through a peak: the peak itself, or `step` from it along one axis.
struct ToneBin {
  int axis = 0;
  int step = 0;
  bool known = false;  ///< else |X| is at most ToneBins::bound
  std::complex<double> value;
  double variance = 0;  ///< E|error|² of the value
};

/// The cross; the peak comes first.
struct ToneBins {
  GridPoint peak{0, 0, 0};
  int count = 0;
  std::array<ToneBin, kMaxToneBins> bin;
  double bound = 0;
};

struct ToneFit {
  ToneModel tone;
  std::array<double, 3> standard_error{0, 0, 0};
  double sides = 0;  ///< Σ|X|² of the known coefficients except the peak
  /// Σ|X − model|² of the known coefficients plus Σ(|model| − bound)² of unknown ones above the bound.
  double misfit = 0;
  double noise = 0;     ///< Σ variance of the known ones
  int significant = 0;  ///< known coefficients next to the peak that stand out of their variance
};

/// The tone that explains the cross best. Returns nothing if no tone has the phases next to the peak (a cheap
/// test), or if the steps do not converge. Tries no other window once the misfit is at most `good` times
/// ToneFit::sides.
std::optional<ToneFit> fit_tone(const ToneGrid& grid, bool real, const ToneBins& bins, double good = 0);

}  // namespace sfft::detail
