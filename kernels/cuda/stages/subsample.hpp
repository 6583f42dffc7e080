// SPDX-License-Identifier: Apache-2.0
// Stage "subsample" of the flat-window path: windows the taps and aliases them into B buckets.
#pragma once

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/stages/binning.hpp"

namespace sfft::detail::cuda {

/// out[line·B + b] = Σ_a window[b + aB] taps[line·folds·B + b + aB] for `lines` lines (frames × lanes).
template <class Real>
void launch_subsample(const Binning<Real>& plan, std::int64_t lines, const Complex<Real>* taps,
                      Complex<Real>* out, Stream stream);

}  // namespace sfft::detail::cuda
