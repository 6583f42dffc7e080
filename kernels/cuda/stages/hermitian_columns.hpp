// SPDX-License-Identifier: Apache-2.0
// Makes any half spectra those of real signals.
#pragma once

#include <cstdint>

#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Half spectra of real signals of planes × rows × points samples: batch × planes × rows × (points/2 + 1)
/// values, contiguous.
struct HalfSpectra {
  std::int64_t batch = 1, planes = 1, rows = 1, points = 1;
};

/// Columns 0 and, for an even number of points, points/2 of the half spectrum of a real signal mirror
/// themselves: X[r] = conj X[−r], r = (plane, row). This replaces them by their Hermitian part
/// (X[r] + conj X[−r])/2, in place, so that an inverse transform gives what numpy.fft.irfftn does.
template <class Real>
void launch_hermitian_columns(Complex<Real>* spectra, const HalfSpectra& shape, Stream stream);

}  // namespace sfft::detail::cuda
