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
  virtual ~Peer() = default;
  virtual std::string name() const = 0;
  /// Copies `input` (device, batch × points floats or complex floats) to where the transform reads it.
  virtual void load(const void* input) = 0;
  virtual void enqueue(cudaStream_t stream) = 0;
  /// One frame's coefficients at flat positions of its spectrum; for real transforms of (…, nD/2 + 1).
  virtual std::vector<std::complex<double>> read(std::int64_t frame,
                                                 const std::vector<std::int64_t>& positions) = 0;
};

std::unique_ptr<Peer> make_cufft(const PeerProblem& problem);
/// Null in builds without VkFFT, or for a problem it cannot plan.
std::unique_ptr<Peer> make_vkfft(const PeerProblem& problem);

}  // namespace sfft::bench
