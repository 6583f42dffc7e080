// SPDX-License-Identifier: Apache-2.0
// Computes the reference of the dense comparison: a spectrum in double precision.
#pragma once

#include <complex>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::apps {

/// The spectrum of single-precision samples, computed in double precision. Uses FFTW if this program has it,
/// so that the built-in engine is not compared with itself; otherwise uses the built-in engine. Real signals
/// give a half spectrum.
std::vector<std::complex<double>> exact_spectrum(const SignalView& signal);

}  // namespace sfft::apps
