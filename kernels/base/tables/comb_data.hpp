// SPDX-License-Identifier: Apache-2.0
// A comb plan as plain data: what the planner decides and every backend executes.
//
// For each delay τ_j the samples y_j[m] = x[m∘L + τ_j] are gathered, L = n/B, and their B-point FFT is
//   Y_j[b] = (B/N) Σ_{f ≡ b mod B} X[f] exp(2πi Σ_d f_d τ_jd / n_d).
// As the support is known, each bucket is a small linear system. Planning solves it into one row of r weights
// per coefficient: X̂_i = Σ_j w_ij Y_j[bucket_i].
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::detail {

struct CombData {
  Shape shape{1};
  bool real = false;
  std::array<std::int64_t, 3> buckets{1, 1, 1};  ///< B_d, divides n_d; 1 beyond the rank
  std::vector<std::array<std::int64_t, 3>>
      delays;                                 ///< r delays, τ_jd in [0, n_d/B_d); an even number when real
  std::vector<std::int64_t> bucket;           ///< k linear bucket indices
  std::vector<std::complex<double>> weights;  ///< k × r, for unscaled FFTs
  std::vector<double> noise_gain;  ///< k: E|X̂_i − X_i|² from a tail shaped like the plan's envelope
  std::vector<double> bias;  ///< k: the same error from shrinking towards the prior, for coefficients like it
  std::vector<double> response;  ///< k: E|X̂_i|² for coefficients like the prior
  /// The tail's scale in units of the envelope is Σ_b bucket_weight_b Σ_j |Y_j[b]|²; 0 where occupied.
  std::vector<double> bucket_weight;
  double tail_energy_per_scale = 0;

  std::int64_t bucket_count() const noexcept { return buckets[0] * buckets[1] * buckets[2]; }
  std::int64_t delay_count() const noexcept { return static_cast<std::int64_t>(delays.size()); }
  std::int64_t samples() const noexcept { return bucket_count() * delay_count(); }
  std::int64_t stride(int d) const noexcept { return shape[d] / buckets[static_cast<std::size_t>(d)]; }
};

}  // namespace sfft::detail
