// SPDX-License-Identifier: Apache-2.0
// Distinguishes the signal's frequencies on the grid from the leakage of a tone between them.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "sfft/types.hpp"
#include "template/discovery/tone_fit.hpp"

namespace sfft::detail {

struct KnownCoefficient {
  std::int64_t flat;
  std::complex<double> value;
  double variance;  ///< E|error|², or the power of the noise at one frequency
};

/// The largest coefficients of a spectrum, or all that were found.
struct KnownSpectrum {
  const Shape& shape;
  bool real = false;                        ///< then one of each conjugate pair is known
  std::span<const KnownCoefficient> known;  ///< ascending in `flat`
  double bound = 0;                         ///< bound on |X| of all others
};

/// Finds tones between the frequencies of the grid, or spread by a window, strongest first. A peak and its
/// neighbours count as a tone only if one tone explains the phases and sizes of all coefficients next to the
/// peak. Adjacent frequencies on the grid match two or more neighbours by chance in fewer than one in a
/// hundred signals. Takes time proportional to the number of known coefficients if no two of them are
/// neighbours.
std::vector<OffGridTone> suspect_leakage(const KnownSpectrum& spectrum);

struct ToneSearch {
  std::int64_t max_tones;
  int max_failures;            ///< peaks that may turn out not to be tones
  bool any_frequency = false;  ///< tones on the grid count as well
  double good = 0;             ///< as in fit_tone()
};

/// The same for the spectrum of the samples on a grid, which has `spectrum.shape` points.
std::vector<ToneFit> find_tones(const KnownSpectrum& spectrum, const ToneGrid& grid,
                                const ToneSearch& search);

}  // namespace sfft::detail
