// SPDX-License-Identifier: Apache-2.0
// Kernels of the dense path: pick the template's coefficients from a full spectrum and sum the energy
// outside them.
#pragma once

#include <vector>

#include "kernels/cuda/executors/executor.hpp"
#include "kernels/cuda/stages/hash.hpp"

namespace sfft::detail::cuda {

/// The position of a coefficient in the spectrum that the engine writes.
struct DensePick {
  std::int64_t at;
  bool conjugate;
};

/// Sums over a spectrum and the picks, as kernels see them.
template <class Real>
struct DenseSpectrum {
  const Complex<Real>* values = nullptr;
  std::int64_t points = 0;      ///< elements of one frame's spectrum
  std::int64_t row_points = 0;  ///< elements in the spectrum's last dimension
  std::int64_t row_extent = 0;  ///< extent of the frame's last dimension; 0 for complex frames
  const DensePick* picks = nullptr;
};

/// Sums of one block: Σ|X|² of all elements and of the picked coefficients, then two members of Sums.
struct DensePartial {
  double total, picked, norm, held;
};
constexpr int kDenseBlocks = 128;  ///< per frame

/// Computes values, errors and estimates from spectra. `partials` has room for kDenseBlocks per frame.
template <class Real>
void launch_pick(const Binning<Real>& plan, const DenseSpectrum<Real>& spectrum, const Batch<Real>& batch,
                 DensePartial* partials, Stream stream);

}  // namespace sfft::detail::cuda
