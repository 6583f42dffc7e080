// The whole transform as one matrix: for plans of few rows and few samples X̂ = M·y, where M holds the window,
// the small FFT and the recovery. It costs more arithmetic than an FFT and much less latency.
//
// A frame is the work of a cluster of blocks (compute capability 9.0), each of which reads all samples and
// computes a share of the rows, a warp a row.
#pragma once

#include <cstdint>

#include "kernels/cuda/binning.hpp"
#include "kernels/cuda/runtime.hpp"

namespace sfft::detail::cuda {

/// Plain data; device memory. Rows past k are probes of the tail, Σ|row·y|² times power_unit.
template <class Real>
struct Product {
  const Complex<Real>* matrix = nullptr;  ///< [row][pitch]
  const std::int64_t* indices = nullptr;  ///< of the samples in a frame; nullptr: 0, 1, 2, … (compact frames)
  const Real* gain = nullptr;             ///< k
  const Real* bias = nullptr;             ///< k
  const std::uint8_t* flags = nullptr;    ///< k
  int rows = 0, k = 0;
  int samples = 0;  ///< of a frame
  int pitch = 0;    ///< samples, rounded up to whole 16-byte loads of a warp
  int taps = 1;     ///< samples of one stream, by which a reference is laid out
  double power_unit = 1, tail_per_scale = 1, gain_sum = 0, bias_sum = 0;
};

constexpr int kProductBlocks = 8;
/// Beyond this an FFT is faster.
constexpr std::int64_t kMostProductBytes = 1 << 20;
constexpr int kMostProductSamples = 1024;

/// Samples a row is padded to.
template <class Real>
constexpr int product_pitch(int samples) {
  constexpr int kStep = 32 * 16 / static_cast<int>(sizeof(Complex<Real>));
  return (samples + kStep - 1) / kStep * kStep;
}

/// Stream-ordered, allocates nothing, can be captured.
template <class Real>
void launch_product(const Product<Real>& plan, const Batch<Real>& batch, Stream stream);

}  // namespace sfft::detail::cuda
