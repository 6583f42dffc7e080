// SPDX-License-Identifier: Apache-2.0
// Stage "permute": gathers the samples of every lane, minus the reference's, into device memory.
#pragma once

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/stages/binning.hpp"

namespace sfft::detail::cuda {

/// out[(frame·lanes + lane)·taps + m], taps = B for a comb. A real frame's lane holds two delays as real and
/// imaginary parts. `witness` receives the real numbers of the witness's samples, [frame][kWitnessReals],
/// minus the reference's; it is unused if the plan has no witness.
template <class Real>
void launch_permute(const Binning<Real>& plan, const Batch<Real>& batch, Complex<Real>* out, Real* witness,
                    Stream stream);

}  // namespace sfft::detail::cuda
