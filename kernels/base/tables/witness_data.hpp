// SPDX-License-Identifier: Apache-2.0
// Check samples of a plan as plain data, which every backend compares with the recovered coefficients.
//
// The coefficients predict x̂[t] = (1/N) Σ_f X̂_f exp(2πi Σ_d f_d t_d / n_d) over the support (both of a
// conjugate pair for real signals). At samples that recovery did not use, x − x̂ contains everything that the
// template does not explain and every error of the coefficients: Σ_f |X_f − X̂_f|² = N Σ_t |x_t − x̂_t|².
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "kernels/base/tables/witness_reals.hpp"

namespace sfft::detail {

struct WitnessData {
  /// Linear row-major indices, in blocks of kWitnessReals real numbers: 32 samples of a real signal, 16 of a
  /// complex one. Plans that must notice short bursts have more than one block.
  std::vector<std::int64_t> samples;
  /// For each block 2k columns of kWitnessReals numbers, column j at j·kWitnessReals: real number s of the
  /// prediction is Σ_j columns[j][s] v_j, v the parts re X̂_0, im X̂_0, re X̂_1, … For a complex signal,
  /// numbers 0 … 15 of a block are real parts, 16 … 31 imaginary parts. Empty if the GPU computes them.
  std::vector<double> columns;
  /// The mean square is taken over the smallest three quarters of the first block and corrected for Gaussian
  /// residues: a moving object that covers some of the samples is not an error of the coefficients.
  bool trimmed = false;
  bool complex = false;  ///< of a complex signal

  bool empty() const noexcept { return samples.empty(); }
  std::size_t block_samples() const noexcept { return complex ? kWitnessReals / 2 : kWitnessReals; }
  std::size_t blocks() const noexcept { return samples.size() / block_samples(); }
};

}  // namespace sfft::detail
