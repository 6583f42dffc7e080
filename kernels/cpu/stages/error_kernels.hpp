// SPDX-License-Identifier: Apache-2.0
// Stage "errors" of every sparse path: witness residues, norms, standard errors.
#pragma once

#include <cstdint>

#include "kernels/base/tables/witness_data.hpp"

namespace sfft::detail::cpu {

template <class Real>
struct ErrorKernels {
  /// residue[s] -= Σ_j v[j] columns[j·kWitnessReals + s] for j < count and s < kWitnessReals.
  void (*witness)(const Real* v, const Real* columns, std::int64_t count, Real* residue);
  /// Σ v_j² over count reals, in double.
  double (*norm)(const Real* v, std::int64_t count);
  /// Σ weight_i |X_i|² over k complex numbers, in double.
  double (*weighted_norm)(const Real* values, const Real* weight, std::int64_t k);
  /// error_i = sqrt(gain_scale·gain_i + bias_scale·bias_i).
  void (*standard_errors)(double gain_scale, const double* gain, double bias_scale, const double* bias,
                          std::int64_t k, Real* error);
  /// error_i = scale·root_gain_i: the same without bias.
  void (*scaled_errors)(Real scale, const Real* root_gain, std::int64_t k, Real* error);
};

template <class Real>
const ErrorKernels<Real>& error_kernels() noexcept;
template <>
const ErrorKernels<float>& error_kernels<float>() noexcept;
template <>
const ErrorKernels<double>& error_kernels<double>() noexcept;

}  // namespace sfft::detail::cpu
