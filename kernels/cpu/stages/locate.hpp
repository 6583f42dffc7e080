// SPDX-License-Identifier: Apache-2.0
// Stage "locate" of discovery: frequencies read off the phases between delays, many buckets at once.
#pragma once

#include <cstdint>

namespace sfft::detail::cpu {

/// A 1D comb read at eight neighbouring delays first_delay, first_delay + 1, …
struct RunGeometry {
  double points;       ///< N
  double buckets;      ///< B
  double stride;       ///< N/B
  double first_delay;  ///< N · first_delay below 2^53
  double scale;        ///< multiplies the bucket values
};

/// Phases of kRunDelays delays at candidate 0, and their rotation from one candidate to the next.
struct CandidateLine {
  double base_re[8], base_im[8], step_re[8], step_im[8];
};

/// Fit of a single frequency to a bucket.
struct SingletonOutput {
  double* f;         ///< integers
  double* value_re;  ///< X[f]
  double* value_im;
  double* energy;    ///< Σ_j |y_j|²
  double* residual;  ///< energy that the frequency does not explain
};

/// Frequencies with their values in units of the buckets, and exp(2 pi i f·τ_j/n) at [i*delays + j].
struct KnownFrequencies {
  const std::int32_t* bucket;
  const double *value_re, *value_im;
  const double *roots_re, *roots_im;
  std::int64_t count;
};

inline constexpr std::int64_t kRunDelays = 8;

template <class Real>
struct LocateKernels {
  /// Fits the best single frequency to each of `count` buckets; re and im hold kRunDelays values per bucket.
  void (*explain_run)(const Real* re, const Real* im, const std::int32_t* buckets, std::int64_t count,
                      const RunGeometry& geometry, const SingletonOutput& out);
  /// The candidate g < count with the largest |Σ_j y_j conj(base_j step_j^g)|². `power` receives that square.
  std::int64_t (*correlate)(const double* y_re, const double* y_im, const CandidateLine& line,
                            std::int64_t count, double& power);
  /// (re, im)[i*delays + j] = exp(2 pi i f[i]·(first + j·step)/n) for j < delays, within a few 1e-16; f
  /// integers in [0, n), n·first and n·step below 2^53.
  void (*roots)(const double* f, std::int64_t count, double first, double step, double n, std::int64_t delays,
                double* re, double* im);
  /// rest[b] = Σ_j |y_j[b] − the sum of its known frequencies|²; scratch holds 2·buckets·delays doubles.
  void (*leftover)(const Real* re, const Real* im, std::int64_t buckets, std::int64_t delays,
                   const KnownFrequencies& known, double* scratch, double* rest);
};

template <class Real>
const LocateKernels<Real>& locate_kernels() noexcept;
template <>
const LocateKernels<float>& locate_kernels<float>() noexcept;
template <>
const LocateKernels<double>& locate_kernels<double>() noexcept;

}  // namespace sfft::detail::cpu
