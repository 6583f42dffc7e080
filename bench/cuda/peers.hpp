// SPDX-License-Identifier: Apache-2.0
// cuFFT and VkFFT, as an expert would use them.
#pragma once

#include <cuda_runtime.h>

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sfft::bench {

/// A batch of dense transforms of one shape. Real ones are R2C, or C2R when inverse. Nothing is scaled.
struct PeerProblem {
  std::vector<std::int64_t> extents;  ///< slowest first
  bool real = false;
  std::int64_t batch = 1;
  bool inverse = false;
  bool double_precision = false;
  bool in_place = false;  ///< VkFFT: also for real transforms, in its layout of padded rows
  bool patient = false;   ///< cuFFT may spend planning time on compiling kernels for the problem

  std::int64_t points() const;           ///< points of one transform
  std::int64_t spectrum_points() const;  ///< points of one transform's spectrum
  std::int64_t row_points() const { return extents.back(); }
  /// Bytes of the whole batch, contiguous.
  std::size_t signal_bytes() const;
  std::size_t spectrum_bytes() const;
  std::size_t input_bytes() const { return inverse ? spectrum_bytes() : signal_bytes(); }
  std::size_t output_bytes() const { return inverse ? signal_bytes() : spectrum_bytes(); }
  /// The output as rows of real numbers along the last dimension. A complex number counts as two.
  std::int64_t output_rows() const { return batch * points() / row_points(); }
  std::int64_t output_row_reals() const;
};

class Peer {
 public:
  explicit Peer(const PeerProblem& problem) : problem_(problem) {}
  virtual ~Peer() = default;
  virtual std::string name() const = 0;
  /// Copies `input` to where the transform reads it, in stream order. `input` is in device memory: batch ×
  /// points floats or complex floats, or spectra for an inverse transform.
  virtual void load(const void* input, cudaStream_t stream) = 0;
  /// Whether an execution overwrites the input, which must then be loaded again.
  virtual bool consumes_input() const { return problem_.in_place; }
  virtual void enqueue(cudaStream_t stream) = 0;
  /// The results in device memory: batch × spectrum_points() complex numbers, or the signals of an inverse
  /// transform.
  virtual const void* result() const = 0;
  /// The distance between rows of the result, in real numbers.
  virtual std::int64_t result_pitch() const { return problem_.output_row_reals(); }
  const std::complex<float>* spectra() const { return static_cast<const std::complex<float>*>(result()); }
  /// Reads one frame's coefficients at linear positions of its spectrum, which is (…, nD/2 + 1) for real
  /// transforms. Single precision only.
  std::vector<std::complex<double>> read(std::int64_t frame,
                                         const std::vector<std::int64_t>& positions) const;
  const PeerProblem& problem() const { return problem_; }

 protected:
  PeerProblem problem_;
};

std::unique_ptr<Peer> make_cufft(const PeerProblem& problem);
int cufft_version();
/// Returns null for a problem that VkFFT cannot plan. Defined in the library sfft_bench_vkfft, which exists
/// if VkFFT was found. That library needs the driver at program start.
std::unique_ptr<Peer> make_vkfft(const PeerProblem& problem);
int vkfft_version();

}  // namespace sfft::bench
