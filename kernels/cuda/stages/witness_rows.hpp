// SPDX-License-Identifier: Apache-2.0
// Stage "hash" of a witness, at plan time: the rows that predict its samples from the coefficients.
#pragma once

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/stages/binning.hpp"
#include "kernels/cuda/stages/hash.hpp"

namespace sfft::detail::cuda {

/// Fills the `rows` of a WitnessTable, `pitch` coefficients apart, for the first `count` samples. `support`:
/// k frequencies as linear indices; `flags`: kDistinctConjugate where a real signal has −f as well;
/// `samples`: linear indices. All arrays are in device memory.
template <class Real>
void launch_witness_rows(const GridShape& shape, bool real, const std::int64_t* support,
                         const std::uint8_t* flags, int k, const std::int64_t* samples, int count, int pitch,
                         Complex<Real>* rows, Stream stream);

}  // namespace sfft::detail::cuda
