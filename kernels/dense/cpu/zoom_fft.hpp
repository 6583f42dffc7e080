// SPDX-License-Identifier: Apache-2.0
// The FFT of a 1D signal at equidistant frequencies of a band, integers or not, that reads each sample once.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/dense/problem/engine.hpp"
#include "kernels/dense/problem/problem.hpp"
#include "kernels/runtime/memory_budget.hpp"

namespace sfft::detail {

class Turns;

/// How the values are computed. Times are predictions from counts of operations, for comparisons only.
struct ZoomPlan {
  std::int64_t block = 1;  ///< D, samples per value of the decimated signal; 1: not decimated
  std::int64_t taps = 1;   ///< q, blocks that one value depends on
  std::int64_t fft = 1;    ///< length of the FFT
  bool chirp = false;      ///< whether a chirp-z transform uses the FFT, or its values are the result
  double us = 0;           ///< of one signal
};

/// The fastest plan for `range` of signals of n points.
template <class Real>
ZoomPlan plan_zoom(std::int64_t n, bool real, const FrequencyRange& range);
/// The time of a dense FFT, predicted in the same way.
template <class Real>
double dense_us(std::int64_t n, bool real);

/// X[j] = scale Σ_t x[t] exp(−2πi f_j t/n), f_j = start + j·step. With t0 = m·D:
///   X[j] ≈ c_j Σ_m exp(−2πi f_j t0/n) Σ_s g[s] x[t0 + s]
/// where g has q·D taps: a Kaiser window modulated by the centre of the band. The first sum is a short FFT or
/// a chirp-z transform (Rabiner, Schafer and Rader 1969), and c_j divides by the response of the window, as
/// in nonuniform FFTs (Dutt and Rokhlin 1993). Frequencies that alias onto the band when only every D-th
/// value is stored are suppressed to the rounding error of Real. Immutable, thread-safe.
template <class Real>
class ZoomFft {
  using Complex = std::complex<Real>;

 public:
  ZoomFft(std::int64_t n, bool real, const FrequencyRange& range, double scale);

  /// Bytes of 64-byte aligned scratch for one call on `threads` threads.
  std::size_t workspace_bytes(int threads) const noexcept;
  int threads_of(int max) const noexcept;
  /// `signal` holds n contiguous elements of `type`; `values` receives one value per frequency. The result
  /// does not depend on the number of threads.
  void forward(const void* signal, ElementType type, Complex* values, const EngineScratch& scratch) const;
  const ZoomPlan& plan() const noexcept { return plan_; }

 private:
  void make_filters(const std::vector<double>& window, const Turns& centre);
  void make_chirp(const Turns& half_cycle);
  std::int64_t parts() const noexcept { return (sequence_ + part_values_ - 1) / part_values_; }
  std::int64_t parts_per_sample() const noexcept { return real_ ? 1 : 2; }
  std::size_t fft_bytes() const noexcept;
  std::size_t sequence_bytes() const noexcept;
  std::size_t part_bytes() const noexcept;
  /// A part of the decimated signal times the roots. `own` has part_bytes().
  void decimate(const void* signal, ElementType type, std::int64_t part, Complex* sequence, Real* own) const;

  std::int64_t n_;
  bool real_;
  ZoomPlan plan_;
  std::int64_t count_;
  std::int64_t lead_;                   ///< samples before the signal that the first value depends on
  std::int64_t sequence_;               ///< values of the decimated signal
  std::int64_t part_values_;            ///< values that one thread computes at a time
  std::int64_t length_;                 ///< of a filter in reals, padded
  CountedVector<Real> filters_;         ///< for the real and for the imaginary part of a value
  CountedVector<Complex> roots_;        ///< that the decimated signal is multiplied by
  CountedVector<Complex> kernel_;       ///< the chirp's spectrum
  CountedVector<Complex> corrections_;  ///< that the results are multiplied by
  std::int64_t bin_step_ = 1;           ///< places between the results in the FFT
  std::unique_ptr<const DenseEngine<Real>> fft_;
};

extern template class ZoomFft<float>;
extern template class ZoomFft<double>;

}  // namespace sfft::detail
