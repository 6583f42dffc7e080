// SPDX-License-Identifier: Apache-2.0
// Convolutions and correlations with a fixed kernel, in one plan.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <type_traits>

#include "sfft/dense.hpp"
#include "sfft/error.hpp"

namespace sfft::dense {

/// Convolves batches of signals of one shape with a kernel, result[o] = Σ_k kernel[k] signal[o − k] along
/// every dimension, on the CPU: blocks of the signal that stay in cache are transformed, multiplied by the
/// kernel's spectrum, and transformed back. Arrays are contiguous and row-major, one signal after the other;
/// input and output must not overlap. A value that is not finite may reach every result of its block, which
/// direct sums would not. Options::normalization has no effect. Immutable; copies share their data, and a
/// move is a copy. Execution is thread-safe. Planning copies the kernel. The constructors throw
/// shape_mismatch for a kernel of another rank, invalid_argument for a kernel larger than the signal where
/// the extent does not allow that, type_mismatch for a complex kernel in a real plan, backend_unavailable for
/// a GPU or an engine other than built_in, size_overflow, out_of_memory.
template <class Real>
class ConvolutionPlan : public detail::FullPlan {
  static_assert(std::is_same_v<Real, float> || std::is_same_v<Real, double>, "Real is float or double");

 public:
  using Extent = Options::Extent;  ///< full, same, valid, circular

  /// `shape`: of one signal. `kernel`: of as many dimensions and any element type, real for a real plan.
  ConvolutionPlan(const Shape& shape, Domain domain, const SignalView& kernel, Extent extent = Extent::full,
                  const Options& options = {})
      : ConvolutionPlan(shape, domain, Other{.kernel = &kernel, .extent = extent}, options) {}
  /// Correlates: result[o] = Σ_k conj(kernel[k]) signal[o + k], of which `full` begins at o = 1 − m, as
  /// scipy.signal.correlate(signal, kernel) does.
  static ConvolutionPlan correlation(const Shape& shape, Domain domain, const SignalView& kernel,
                                     Extent extent = Extent::full, const Options& options = {}) {
    return ConvolutionPlan(shape, domain, Other{.kernel = &kernel, .extent = extent, .correlate = true},
                           options);
  }

  /// Values of the results of the whole batch.
  std::size_t result_points() const noexcept { return spectrum_points(); }
  /// For real plans: convolves signal_points() values. Blocks. Throws shape_mismatch, type_mismatch,
  /// invalid_argument.
  void forward(std::span<const Real> signals, std::span<Real> results,
               std::span<std::byte> workspace = {}) const {
    convolve(signals, results, workspace);
  }
  /// The same for complex plans.
  void forward(std::span<const std::complex<Real>> signals, std::span<std::complex<Real>> results,
               std::span<std::byte> workspace = {}) const {
    convolve(signals, results, workspace);
  }

 private:
  ConvolutionPlan(const Shape& shape, Domain domain, const Other& other, const Options& options)
      : FullPlan(shape, domain, options, std::is_same_v<Real, float>, other) {}

  template <class T>
  void convolve(std::span<const T> signals, std::span<T> results, std::span<std::byte> workspace) const {
    constexpr ElementType kType = element_type_of<T>::value;
    if (domain_of(kType) != domain()) {
      throw Error(ErrorCode::type_mismatch,
                  is_complex(kType) ? "complex values for a real plan" : "real values for a complex plan");
    }
    run_forward(signals.data(), kType, signals.size(), results.data(), results.size(), workspace);
  }
};

}  // namespace sfft::dense
