// SPDX-License-Identifier: Apache-2.0
// Fits one tone of real-valued frequency to the coefficients around a peak. The first guess correlates them
// with the kernels of cosine windows, the generalisation of the two-bin interpolators of Jacobsen and
// Kootsookos (IEEE Signal Processing Magazine 24, 2007); Gauss-Newton steps turn it into the least-squares
// estimate, which reaches the Cramér-Rao bound (Rife and Boorstyn, IEEE Transactions on Information Theory
// 20, 1974).
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <optional>
#include <vector>

#include "kernels/base/math/roots_of_unity.hpp"
#include "sfft/types.hpp"
#include "template/discovery/grid_point.hpp"
#include "template/discovery/sampler.hpp"

namespace sfft::detail {

/// w(t) = a0 − a1 cos(2πt/p) + a2 cos(4πt/p) − a3 cos(6πt/p), with the period p = n or, symmetric, n − 1.
struct CosineWindow {
  int terms = 1;
  std::array<double, 4> a{1, 0, 0, 0};
};

inline constexpr int kCosineWindows = 4;
inline constexpr std::array<CosineWindow, kCosineWindows> kCosineWindow{{
    {1, {1, 0, 0, 0}},                          // none
    {2, {0.5, 0.5, 0, 0}},                      // Hann
    {2, {0.54, 0.46, 0, 0}},                    // Hamming
    {4, {0.35875, 0.48829, 0.14128, 0.01168}},  // Blackman-Harris
}};

/// (1/n) Σ_t exp(2πi x t/n) over t = 0 … n−1, for any real x.
inline std::complex<double> dirichlet(double x, double n) noexcept {
  const double below = root_of_turns(0.5 * x / n).imag() * n;
  if (std::fabs(below) < 1e-13 * n) return 1;
  const double above = root_of_turns(0.5 * x).imag();
  return above / below * root_of_turns(0.5 * x * (n - 1) / n);
}

/// (1/n) Σ_t w(t) exp(2πi x t/n), which a tone of frequency f + x contributes at f. `spacing`: n over the
/// window's period, the distance of its terms in bins.
inline std::complex<double> tone_kernel(const CosineWindow& window, double spacing, double x,
                                        double n) noexcept {
  std::complex<double> sum = window.a[0] * dirichlet(x, n);
  for (int q = 1; q < window.terms; ++q) {
    const double half = (q % 2 != 0 ? -0.5 : 0.5) * window.a[static_cast<std::size_t>(q)];
    sum += half * (dirichlet(x - q * spacing, n) + dirichlet(x + q * spacing, n));
  }
  return sum;
}

/// Writes dirichlet(x − j) for j = first … last to to[j]. The phases of neighbours differ by a constant
/// factor, and so do the phases whose imaginary part is the sine in the denominator. A small sine is computed
/// from its series.
inline void dirichlet_row(double x, double n, std::int64_t first, std::int64_t last,
                          std::complex<double>* to) noexcept {
  constexpr double kSmall = 0.2;
  const double above = root_of_turns(0.5 * x).imag();
  const double start = x - static_cast<double>(first);
  const std::complex<double> turn = root_of_turns(-0.5 * (n - 1) / n), part = root_of_turns(-0.5 / n);
  std::complex<double> phase = root_of_turns(0.5 * start * (n - 1) / n),
                       share = root_of_turns(0.5 * start / n);
  for (std::int64_t j = first; j <= last; ++j, phase = times(phase, turn), share = times(share, part)) {
    const double angle = std::numbers::pi * (x - static_cast<double>(j)) / n, square = angle * angle;
    const double sine =
        square > kSmall * kSmall
            ? share.imag()
            : angle * (1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72))));
    to[j] = std::fabs(sine) < 1e-13 ? std::complex<double>(1)
                                    : (j % 2 != 0 ? -above : above) / (sine * n) * phase;
  }
}

/// Largest `reach` of tone_kernels().
inline constexpr int kMaxKernels = 4;

/// Writes tone_kernel(x − j) for j = −reach … reach to to[j]. `turns`: the share of the window's period by
/// which the samples begin after the window.
inline void tone_kernels(const CosineWindow& window, double spacing, double x, double n, int reach,
                         std::complex<double>* to, double turns = 0) noexcept {
  constexpr int kWide = kMaxKernels + 3;
  std::complex<double> storage[2 * kWide + 1];
  std::complex<double>* row = storage + kWide;
  const bool apart = (spacing != 1 || turns != 0) && window.terms > 1;
  // A kernel shifted by whole bins is another element of the row.
  const int wide = apart ? reach : reach + window.terms - 1;
  dirichlet_row(x, n, -wide, wide, row);
  for (int j = -reach; j <= reach; ++j) to[j] = window.a[0] * row[j];
  for (int q = 1; q < window.terms; ++q) {
    const double half = (q % 2 != 0 ? -0.5 : 0.5) * window.a[static_cast<std::size_t>(q)];
    if (!apart) {
      for (int j = -reach; j <= reach; ++j) to[j] += half * (row[j + q] + row[j - q]);
      continue;
    }
    for (const double side : {-1.0, 1.0}) {
      dirichlet_row(x + side * q * spacing, n, -reach, reach, row);
      const std::complex<double> factor = half * root_of_turns(side * q * turns);
      for (int j = -reach; j <= reach; ++j) to[j] += times(factor, row[j]);
    }
  }
}

/// Returns tone_kernel(frequency − j) for all bins j of an axis.
inline std::vector<std::complex<double>> tone_kernel_line(const CosineWindow& window, double spacing,
                                                          double frequency, std::int64_t n) {
  const auto count = static_cast<std::size_t>(n);
  std::vector<std::complex<double>> row(count), line(count);
  const auto fill = [&](double at) { dirichlet_row(at, static_cast<double>(n), 0, n - 1, row.data()); };
  fill(frequency);
  for (std::size_t j = 0; j < count; ++j) line[j] = window.a[0] * row[j];
  if (spacing == 1 && window.terms < n) {
    // A kernel shifted by whole bins is another element of the row.
    for (int q = 1; q < window.terms; ++q) {
      const auto shift = static_cast<std::size_t>(q);
      const double half = (q % 2 != 0 ? -0.5 : 0.5) * window.a[shift];
      for (std::size_t j = 0; j < count; ++j) {
        const std::size_t above = j + shift < count ? j + shift : j + shift - count;
        const std::size_t below = j >= shift ? j - shift : j + count - shift;
        line[j] += half * (row[above] + row[below]);
      }
    }
    return line;
  }
  for (int q = 1; q < window.terms; ++q) {
    const double half = (q % 2 != 0 ? -0.5 : 0.5) * window.a[static_cast<std::size_t>(q)];
    for (const double side : {-1.0, 1.0}) {
      fill(frequency + side * q * spacing);
      for (std::size_t j = 0; j < count; ++j) line[j] += half * row[j];
    }
  }
  return line;
}

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

struct OffGridFinding {
  std::vector<OffGridTone> tones;  ///< strongest first
  /// The leakage of one of them fills more coefficients than a sparse search can find. Leakage along one line
  /// of a large spectrum may be found coefficient by coefficient.
  bool everywhere = false;
};

/// Finds at most three tones that certainly lie between bins. Reads about a thousand samples (two thousand in
/// three dimensions) at each of a few delays, or nothing if that exceeds `max_samples`. Frequencies on the
/// grid that share or adjoin a bin of the coarse grid do not pass for a tone: their sum changes its shape
/// from one delay to the next, or never has the shape of a tone.
template <class Real>
OffGridFinding find_off_grid_tones(DiscoverySampler<Real>& sampler, std::int64_t max_samples);

extern template OffGridFinding find_off_grid_tones<float>(DiscoverySampler<float>&, std::int64_t);
extern template OffGridFinding find_off_grid_tones<double>(DiscoverySampler<double>&, std::int64_t);

}  // namespace sfft::detail
