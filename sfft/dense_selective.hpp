// SPDX-License-Identifier: Apache-2.0
// Dense forward FFTs that keep only some of their coefficients.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "sfft/dense.hpp"

namespace sfft::dense {

namespace detail {
/// What the calls of a SelectivePlan share, for either precision.
class AnySelectivePlan : public PlanWithWorkspace {
 public:
  SFFT_EXPORT bool stores_spectrum()
      const noexcept;  ///< whether a call stores the whole spectrum in its workspace

  /// @cond
 protected:
  /// A support or a range of frequencies; neither for a plan that keeps what is above a magnitude.
  struct Kept {
    std::optional<std::span<const std::int64_t>> support{};
    bool band = false, zoom = false;
    double start = 0, step = 1;
    std::int64_t first = 0, count = 0;
  };

  AnySelectivePlan(const Shape& shape, Domain domain, const Kept& kept, const Options& options, bool single)
      : PlanWithWorkspace(make(shape, domain, kept, options, single)) {}

  SFFT_EXPORT void run_at(const void* signals, ElementType type, void* values, std::size_t count) const;
  SFFT_EXPORT void queue_at(const void* signals, ElementType type, void* values,
                            std::span<std::byte> workspace, CUstream_st* stream) const;

 private:
  SFFT_EXPORT static std::shared_ptr<const PlanState> make(const Shape& shape, Domain domain,
                                                           const Kept& kept, const Options& options,
                                                           bool single);
  /// @endcond
};
}  // namespace detail

/// A forward transform that returns the coefficients above a magnitude, those of a support, or those of a
/// range of frequencies, and drops the others. With the engine `tuned` the last step tests its results while
/// they are in registers, so the spectrum is never stored; other engines store it in the workspace and then
/// select. Signals are as for a Plan with the same arguments: of the plan's own type or of integers, real for
/// real plans and complex for others. Immutable; copies share their data, and a move is a copy. Execution is
/// thread-safe. Throws as Plan does.
template <class Real>
class SelectivePlan : public detail::AnySelectivePlan {
 public:
  /// Coefficients of a batch of spectra, indexed as in DeviceCoefficients.
  struct Coefficients {
    std::vector<std::int64_t> indices;  ///< ascending
    /// X at the indices.
    std::vector<std::complex<Real>> values;
  };

  /// Keeps all X with |X| > magnitude, which each call passes. The comparison is of |X|², in the plan's
  /// precision, and keeps NaN.
  static SelectivePlan above(const Shape& shape, Domain domain, const Options& options = {}) {
    return {shape, domain, {}, options};
  }
  /// Keeps the X at a support: linear indices into one spectrum, strictly ascending, the same for every
  /// signal of a batch. Throws Error(invalid_support).
  static SelectivePlan at(const Shape& shape, Domain domain, std::span<const std::int64_t> support,
                          const Options& options = {}) {
    return {shape, domain, {.support = support}, options};
  }
  /// Keeps X[first + j] for 0 <= j < count <= N, in this order, of 1D signals of N points. Frequencies are
  /// modulo N: they may be negative or run across N, also for real signals. On the CPU each sample is read
  /// once and the spectrum is never stored, unless the band is so wide that a dense FFT is faster. On a GPU
  /// the band is a support within the stored spectrum.
  static SelectivePlan band(const Shape& shape, Domain domain, std::int64_t first, std::int64_t count,
                            const Options& options = {}) {
    return {shape, domain, {.band = true, .first = first, .count = count}, options};
  }
  /// Keeps the sums X[j] = Σ_t x[t] exp(−2πi (start + j·step) t/N) for 0 <= j < count of 1D signals of N
  /// points. `start` and `step`, any finite numbers, are in cycles per N samples, like indices of the
  /// spectrum: f Hz at s samples per second are f·N/s. On the CPU only.
  static SelectivePlan zoom(const Shape& shape, Domain domain, double start, double step, std::int64_t count,
                            const Options& options = {}) {
    return {shape, domain, {.zoom = true, .start = start, .step = step, .count = count}, options};
  }

  /// Transforms signals in host memory that have the plan's strides. Blocks. Throws invalid_argument for a
  /// plan made by at(), or for a magnitude that is negative or NaN.
  SFFT_EXPORT Coefficients forward_above(const void* signals, ElementType type, Real magnitude) const;
  /// `values`: batch × support, in support order, or batch × count frequencies. Blocks. Throws
  /// invalid_argument for a plan made by above().
  void forward_at(const void* signals, ElementType type, std::span<std::complex<Real>> values) const {
    run_at(signals, type, values.data(), values.size());
  }

  /// The same in GPU memory, for plans on a GPU, ordered in `stream` as Plan::enqueue_forward() is. `signals`
  /// are aligned to two elements.
  SFFT_EXPORT void enqueue_above(const void* signals, ElementType type, Real magnitude,
                                 const DeviceCoefficients<Real>& kept, std::span<std::byte> workspace,
                                 CUstream_st* stream) const;
  /// The same at the support or the band: `values` receives batch × support, in support order.
  void enqueue_at(const void* signals, ElementType type, std::complex<Real>* values,
                  std::span<std::byte> workspace, CUstream_st* stream) const {
    queue_at(signals, type, values, workspace, stream);
  }

 private:
  SelectivePlan(const Shape& shape, Domain domain, const Kept& kept, const Options& options)
      : AnySelectivePlan(shape, domain, kept, options, std::is_same_v<Real, float>) {}
};

}  // namespace sfft::dense
