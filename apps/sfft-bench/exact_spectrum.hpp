// SPDX-License-Identifier: Apache-2.0
// The reference of the dense comparison: a spectrum in double precision.
#pragma once

#include <complex>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::apps {

/// The spectrum of single-precision samples by FFTW in double precision if this program has it, so that the
/// built-in engine is not its own reference; otherwise by the built-in engine in double precision. Real
/// signals give half of it.
std::vector<std::complex<double>> exact_spectrum(const SignalView& signal);

}  // namespace sfft::apps
