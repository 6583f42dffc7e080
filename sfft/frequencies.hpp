// SPDX-License-Identifier: Apache-2.0
// Frequencies of linear indices, and signals from spectra at a support.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "sfft/export.hpp"
#include "sfft/types.hpp"

namespace sfft {

/// The signed frequencies of a linear row-major index, in cycles per extent and in [−n/2, n/2) per dimension
/// (as numpy.fft.fftfreq orders them): n/2 of an even extent is −n/2, also for real signals. Unused
/// dimensions 0. Throws invalid_argument for an index outside [0, N).
SFFT_EXPORT std::array<std::int64_t, 3> signed_frequencies(const Shape& shape, std::int64_t index);
/// The linear index of frequencies in cycles per extent, of either sign; they are taken modulo the extents.
/// Throws shape_mismatch unless there is one per dimension; further zeros, as signed_frequencies() returns,
/// are allowed. The support of a real signal may hold the conjugate's index instead.
SFFT_EXPORT std::int64_t linear_index(const Shape& shape, std::span<const std::int64_t> frequencies);
/// The same for linear_index(shape, {3, -5}).
inline std::int64_t linear_index(const Shape& shape, std::initializer_list<std::int64_t> frequencies) {
  return linear_index(shape, std::span<const std::int64_t>(frequencies.begin(), frequencies.size()));
}

/// The signal that a spectrum describes, in the box of `extent` samples from `begin` on: row-major,
/// (1/N) Σ X[f] exp(2πi Σ f_d t_d / n_d) over the support and, for a real signal, its conjugates. Takes k
/// operations per sample; for whole signals with a large k an inverse dense::Plan is faster. Throws
/// shape_mismatch for another number of dimensions, invalid_argument for a box outside the signal,
/// type_mismatch for a complex spectrum.
template <class Real>
SFFT_EXPORT std::vector<Real> reconstruct(const Spectrum<Real>& spectrum, std::span<const std::int64_t> begin,
                                          const Shape& extent);
/// The same for complex signals, or the complex values of real ones.
template <class Real>
SFFT_EXPORT std::vector<std::complex<Real>> reconstruct_complex(const Spectrum<Real>& spectrum,
                                                                std::span<const std::int64_t> begin,
                                                                const Shape& extent);

}  // namespace sfft
