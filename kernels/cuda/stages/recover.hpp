// SPDX-License-Identifier: Apache-2.0
// Stage "recover": applies rows of weights to the buckets of all lanes, and computes the tail's power, errors
// and account.
#pragma once

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/stages/binning.hpp"

namespace sfft::detail::cuda {

/// What a block of the first kernel passes to the second: sums, and what its coefficients predict for the
/// witness.
struct RecoverPartial {
  double power, held, norm, fit;
  double predicted[kWitnessReals];
};
constexpr int kMaxRecoverBlocks = 64;  ///< per frame

/// Computes the batch's values, errors and accounts from transformed lanes z[(frame·lanes + lane)·B + b] and
/// the witness's samples as launch_permute() writes them. `partials` holds kMaxRecoverBlocks per frame.
template <class Real>
void launch_recover(const Binning<Real>& plan, const Batch<Real>& batch, const Complex<Real>* z,
                    const Real* witness, RecoverPartial* partials, Stream stream);

}  // namespace sfft::detail::cuda
