// SPDX-License-Identifier: Apache-2.0
// Stage "recover": applies rows of weights to the buckets of all lanes, and computes tail power, errors and
// error estimates.
#pragma once

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/stages/binning.hpp"

namespace sfft::detail::cuda {

/// A block's results for the second kernel: sums, and its coefficients'
/// prediction of the witness.
struct RecoverPartial {
  double power, held, norm, fit;
  double predicted[kWitnessReals];
};
constexpr int kMaxRecoverBlocks = 64;  ///< per frame

/// Computes the batch's values, errors and estimates from transformed lanes z[(frame·lanes + lane)·B + b] and
/// the witness's samples as launch_permute() writes them. `partials` holds kMaxRecoverBlocks per frame;
/// `more` has one element per frame if the witness has several blocks, else it is nullptr.
template <class Real>
void launch_recover(const Binning<Real>& plan, const Batch<Real>& batch, const Complex<Real>* z,
                    const Real* witness, RecoverPartial* partials, WitnessSums* more, Stream stream);

}  // namespace sfft::detail::cuda
