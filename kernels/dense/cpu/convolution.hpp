// SPDX-License-Identifier: Apache-2.0
// Convolution with a fixed kernel by FFTs of overlapping blocks (overlap-save; Oppenheim and Schafer,
// Discrete-Time Signal Processing, section 8.7.3), in one to three dimensions.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>

#include "kernels/dense/problem/engine.hpp"
#include "kernels/runtime/memory_budget.hpp"
#include "sfft/dense_options.hpp"

namespace sfft::detail {

/// One dimension of a convolution: result o is Σ_k kernel[k] signal[o + shift − k] for 0 <= o < results,
/// where the signal is periodic or zero outside.
struct ConvolutionAxis {
  std::int64_t points = 1, taps = 1;  ///< of the signal and of the kernel
  std::int64_t results = 1, shift = 0;
  bool periodic = false;
  std::int64_t block = 1;    ///< points of an FFT
  std::int64_t skipped = 0;  ///< first values of a block that are not results
  std::int64_t stride() const noexcept { return block - skipped; }  ///< results of a block
  std::int64_t blocks() const noexcept { return (results + stride() - 1) / stride(); }
};

/// `correlate`: for kernels that are reversed. The extents of blocks are not set.
ConvolutionAxis convolution_axis(std::int64_t points, std::int64_t taps, dense::Options::Extent extent,
                                 bool correlate) noexcept;

/// T is float, double, std::complex<float> or std::complex<double>. Immutable, thread-safe.
template <class T>
class Convolution {
 public:
  using Real = decltype(std::real(T()));
  using Axes = std::array<ConvolutionAxis, 3>;  ///< slowest first; unused ones come first and have one point

  /// Chooses the blocks. `kernel`: the product of all taps values, row-major.
  Convolution(const Axes& axes, const T* kernel);

  /// Blocks of one signal.
  std::int64_t blocks() const noexcept { return axes_[0].blocks() * axes_[1].blocks() * axes_[2].blocks(); }
  const Axes& axes() const noexcept { return axes_; }
  /// The number of threads that are worth sharing a block.
  int threads_of(int max) const noexcept { return engine_->threads_of(max); }
  /// Bytes of the workspace of one block on `threads` threads, a multiple of 64.
  std::size_t workspace_bytes(int threads) const noexcept;
  /// Computes one block of a signal's results. The arrays must not overlap.
  void run(std::int64_t block, const T* signal, T* results, const EngineScratch& scratch) const;

 private:
  using Starts = std::array<std::int64_t, 3>;
  /// Copies a window of the signal; element (0, 0, 0) of the window is at `start`.
  void gather(const T* signal, const Starts& start, T* window) const;

  Axes axes_;
  std::int64_t points_, spectrum_points_;  ///< of a block
  std::unique_ptr<const DenseEngine<Real>> engine_;
  CountedVector<std::complex<Real>> kernel_;  ///< its spectrum
};

extern template class Convolution<float>;
extern template class Convolution<double>;
extern template class Convolution<std::complex<float>>;
extern template class Convolution<std::complex<double>>;

}  // namespace sfft::detail
