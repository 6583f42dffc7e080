// SPDX-License-Identifier: Apache-2.0
// A flat-window plan as plain data: what the planner decides and every backend executes.
//
// Samples are taken along r parallel lattice lines, t_j(m) = (τ_j + σ m) mod n for m < M, windowed by g and
// aliased into B buckets; the B-point FFT of line j is
//   z_j[b] = Σ_m g[m] x[t_j(m)] exp(−2πi b m / B)
//          = (1/N) Σ_f X[f] exp(2πi Σ_d f_d τ_jd / n_d) G(θ_f − b/B),   θ_f = Σ_d f_d σ_d / n_d mod 1.
// G is negligible beyond a few buckets, so a coefficient appears in a short run of buckets of all lines,
// among the few template frequencies that hash nearby. That is a small known linear system. Planning solves
// it into one row of weights that reads the coefficient and cancels its neighbours.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::detail {

struct FlatPlanData {
  Shape shape{1};
  bool real = false;
  std::array<std::int64_t, 3> sigma{0, 0, 0};
  std::vector<std::array<std::int64_t, 3>> delays;  ///< τ_j, r delays
  std::int64_t buckets = 1;                         ///< B
  std::vector<double> window;                       ///< g, M taps, M a multiple of B
  std::int64_t row_buckets = 1;                     ///< p, the buckets that a row reads
  /// Rows of weights: X̂_i = Σ_q Σ_j weights[(i·p + q)·r + j] z_j[(first_bucket_i + q) mod B]. The rows of
  /// the k coefficients come first, then the probes. A probe cancels the whole template and is scaled so that
  /// the mean square of what it reads is the tail energy T = Σ_{f ∉ S} |X[f]|².
  std::vector<std::int64_t> first_bucket;
  std::vector<std::complex<double>> weights;
  std::vector<double> noise_gain;            ///< k: E|X̂_i − X_i|² = T · noise_gain_i for a white tail
  std::vector<std::int64_t> self_conjugate;  ///< coefficients of a real frame that are real: f = −f
  std::int64_t samples = 0;                  ///< number of distinct samples read

  std::int64_t taps() const noexcept { return static_cast<std::int64_t>(window.size()); }
  std::int64_t delay_count() const noexcept { return static_cast<std::int64_t>(delays.size()); }
  std::int64_t coefficients() const noexcept { return static_cast<std::int64_t>(noise_gain.size()); }
  std::int64_t rows() const noexcept { return static_cast<std::int64_t>(first_bucket.size()); }
  std::int64_t probes() const noexcept { return rows() - coefficients(); }
  /// The number of complex FFTs: a real frame's lines are transformed in pairs.
  std::int64_t lanes() const noexcept { return real ? (delay_count() + 1) / 2 : delay_count(); }
};

}  // namespace sfft::detail
