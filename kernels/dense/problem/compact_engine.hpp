// SPDX-License-Identifier: Apache-2.0
// The interface of engines that directly transform stored values in GPU memory.
#pragma once

#include <memory>
#include <string>

#include "kernels/dense/problem/gpu_engine.hpp"

namespace sfft::detail {

enum class Direction : std::uint8_t { forward, inverse };

/// How the values of a compact problem are stored, and how large they may be.
struct CompactFormats {
  dense::Storage signal = dense::Storage::f16, spectrum = dense::Storage::f16, between = dense::Storage::f32;
  double signal_peak = 65504, spectrum_peak = 65504;
  /// On a GPU the size of the values is unknown. If set, kernels find the peak and scale the values so that
  /// it is at most the peak above.
  bool signal_found = false, spectrum_found = false;

  dense::Storage source(Direction direction) const noexcept {
    return direction == Direction::forward ? signal : spectrum;
  }
  dense::Storage target(Direction direction) const noexcept {
    return direction == Direction::forward ? spectrum : signal;
  }
  double source_peak(Direction direction) const noexcept {
    return direction == Direction::forward ? signal_peak : spectrum_peak;
  }
  bool source_found(Direction direction) const noexcept {
    return direction == Direction::forward ? signal_found : spectrum_found;
  }
  /// Whether results, or values between steps, would overflow if the peak were not found.
  bool needs_exponents(Direction direction) const noexcept {
    return source_found(direction) &&
           (target(direction) == dense::Storage::f16 || between == dense::Storage::f16);
  }
};

/// Transforms of one contiguous problem. Calls behave like those of a GpuDenseEngine.
class GpuCompactEngine {
 public:
  virtual ~GpuCompactEngine() = default;

  /// Bytes of 256-byte aligned device memory for one execution in either direction.
  virtual std::size_t workspace_bytes() const noexcept = 0;
  /// Stored results are `scale` times the sums of stored values.
  virtual void run(Direction direction, const void* from, void* to, double scale, std::byte* workspace,
                   CUstream_st* stream) const = 0;
  /// The number of times that values are stored between steps.
  virtual int handovers(Direction direction) const noexcept = 0;
  virtual double kernel_error() const noexcept = 0;  ///< relative, in addition to the error of floats
  virtual std::string name() const = 0;
  virtual std::string kernel() const = 0;  ///< like GpuDenseEngine::kernel()
  /// Says whether tensor cores compute the lines, or why not; empty if they would not be faster.
  virtual std::string note() const = 0;
};

/// Whether a kernel multiplies f16 numbers on tensor cores; such kernels cannot serve other formats.
bool multiplies_f16(const std::string& kernel);

/// The tuned kernels. Arguments and exceptions are those of make_tuned_engine().
std::unique_ptr<const GpuCompactEngine> make_compact_engine(const DenseProblem& problem,
                                                            const CompactFormats& formats,
                                                            const std::string& kernel, bool measure);

}  // namespace sfft::detail
