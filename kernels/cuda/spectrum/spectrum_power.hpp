// SPDX-License-Identifier: Apache-2.0
// Converts samples to double and sums the power of their spectra. Arrays are in device memory; work is queued
// on a stream.
#pragma once

#include <complex>
#include <cstdint>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/spectrum/spectrum_extents.hpp"

namespace sfft::detail::cuda {

/// Replaces the power of an element that is left out of all sums and ranks.
constexpr double kExcluded = -1;

/// out[i · stride] = samples[i]. T is std::uint8_t, std::uint16_t, float or double.
template <class T>
void to_double(const T* samples, std::int64_t count, double* out, int stride, Stream stream);

/// power[i] = |spectrum[i]|².
void first_power(const std::complex<double>* spectrum, std::int64_t count, double* power, Stream stream);
/// power[i] += |spectrum[i]|² and change[i] += |spectrum[i] − first[i]|².
void add_power(const std::complex<double>* spectrum, const std::complex<double>* first, std::int64_t count,
               double* power, double* change, Stream stream);
void set_zero(double* values, std::int64_t count, Stream stream);
void divide(double* values, std::int64_t count, double divisor, Stream stream);

/// Excludes the elements of a half spectrum that their conjugates represent: in the planes f_D = 0 and f_D =
/// n_D/2, those with the larger linear index.
void exclude_conjugates(double* power, const SpectrumExtents& extents, Stream stream);
void exclude(double* power, const std::int64_t* indices, std::int64_t count, Stream stream);

/// out[i] = values[indices[i]].
void gather(const double* values, const std::int64_t* indices, std::int64_t count, double* out,
            Stream stream);
void gather(const std::complex<double>* values, const std::int64_t* indices, std::int64_t count,
            std::complex<double>* out, Stream stream);

}  // namespace sfft::detail::cuda
