// cuFFT and VkFFT, single precision, as their users would run them at their best.
#pragma once

#include <cuda_runtime.h>

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sfft::bench {

/// A batch of dense transforms of one shape; real ones are R2C.
struct PeerProblem {
  std::vector<std::int64_t> extents;  ///< slowest first
  bool real = false;
  std::int64_t batch = 1;

  std::int64_t points() const;
  std::int64_t spectrum_points() const;  ///< of one transform
};

class Peer {
 public:
  explicit Peer(const PeerProblem& problem) : problem_(problem) {}
  virtual ~Peer() = default;
  virtual std::string name() const = 0;
  /// Brings `input` (device, batch × points floats or complex floats) to where the transform reads it, in the
  /// stream's order. A transform in place needs it again before every execution whose result matters.
  virtual void load(const void* input, cudaStream_t stream) = 0;
  virtual void enqueue(cudaStream_t stream) = 0;
  /// Device memory, batch × spectrum_points() complex floats.
  virtual const std::complex<float>* spectra() const = 0;
  /// One frame's coefficients at flat positions of its spectrum; for real transforms of (…, nD/2 + 1).
  std::vector<std::complex<double>> read(std::int64_t frame,
                                         const std::vector<std::int64_t>& positions) const;

 protected:
  PeerProblem problem_;
};

std::unique_ptr<Peer> make_cufft(const PeerProblem& problem);
/// Null for a problem it cannot plan. Of the library sfft_bench_vkfft, which exists where VkFFT was found: it
/// needs the driver to be there when the program starts.
std::unique_ptr<Peer> make_vkfft(const PeerProblem& problem);

}  // namespace sfft::bench
