// SPDX-License-Identifier: Apache-2.0
// Stage "recover": rows of weights over the buckets of all lanes, the tail's power, errors and account.
#pragma once

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/stages/binning.hpp"

namespace sfft::detail::cuda {

/// What a block of the first kernel found out, for the second: sums, and what its coefficients predict of the
/// witness.
struct RecoverPartial {
  double power, held, norm, fit;
  double predicted[kWitnessReals];
};
constexpr int kMaxRecoverBlocks = 64;  ///< a frame

/// From transformed lanes z[(frame·lanes + lane)·B + b] and the witness's samples, as launch_permute() has
/// them, to the batch's values, errors and accounts. `partials` holds kMaxRecoverBlocks a frame.
template <class Real>
void launch_recover(const Binning<Real>& plan, const Batch<Real>& batch, const Complex<Real>* z,
                    const Real* witness, RecoverPartial* partials, Stream stream);

}  // namespace sfft::detail::cuda
