// Stage "recover": rows of weights over the buckets of all lanes, the tail's power, errors and account.
#pragma once

#include "kernels/cuda/binning.hpp"
#include "kernels/cuda/runtime.hpp"

namespace sfft::detail::cuda {

/// What a block of the first kernel found out, for the second.
struct RecoverPartial {
  double power, norm, held;
};
constexpr int kMaxRecoverBlocks = 64;  ///< a frame

/// From transformed lanes z[(frame·lanes + lane)·B + b] to the batch's values, errors and accounts.
/// `partials` holds kMaxRecoverBlocks a frame.
template <class Real>
void launch_recover(const Binning<Real>& plan, const Batch<Real>& batch, const Complex<Real>* z,
                    RecoverPartial* partials, Stream stream);

}  // namespace sfft::detail::cuda
