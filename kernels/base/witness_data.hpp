// SPDX-License-Identifier: Apache-2.0
// Check samples of a plan as plain data, which every backend compares with the recovered coefficients.
//
// The coefficients predict x̂[t] = (1/N) Σ_f X̂_f exp(2πi Σ_d f_d t_d / n_d) over the support (both of a
// conjugate pair for real signals). At samples that recovery did not use, x − x̂ holds everything that the
// template does not explain and every error of the coefficients: Σ_f |X_f − X̂_f|² = N Σ_t |x_t − x̂_t|².
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "kernels/base/witness_reals.hpp"

namespace sfft::detail {

struct WitnessData {
  std::vector<std::int64_t> samples;  ///< flat row-major indices; 32 for a real signal, 16 for a complex one
  /// kWitnessReals × 2k, row s at s·2k: real number s of the prediction is Σ_j rows[s][j] v_j, v the parts re
  /// X̂_0, im X̂_0, re X̂_1, … For a complex signal, rows 0 … 15 are real parts, rows 16 … 31 imaginary
  /// parts. Empty: left to the GPU.
  std::vector<double> rows;
  /// The mean square is taken over the smallest three quarters and corrected for Gaussian residues: a moving
  /// object that covers some of the samples is not an error of the coefficients.
  bool trimmed = false;

  bool empty() const noexcept { return samples.empty(); }
};

}  // namespace sfft::detail
