// SPDX-License-Identifier: Apache-2.0
// The dense transform of one frame, in double precision, by an engine that is ready in microseconds. Planning
// with cuFFT takes as long as some thirty transforms.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/small_fft/schedule_table.hpp"
#include "kernels/cuda/spectrum/spectrum_extents.hpp"

namespace sfft::detail::cuda {

/// One launch: FFTs of lines, each entirely in shared memory.
struct FrameFftStep {
  FftSchedule fft;
  std::int64_t outer = 1, inner = 1;  ///< lines in the slower and in the faster dimensions
  std::int64_t lanes = 1;             ///< FFTs; fewer than lines if one FFT handles two real lines
  int lanes_per_block = 1, pitch = 1, threads = 32;
  std::int64_t blocks = 1, shared_bytes = 0;
  int table = 0;  ///< start of its schedule's entries
};

/// Transforms an image with two launches (rows, then columns) plus one for its tables; each further dimension
/// adds one. Two rows of real samples form the real and imaginary parts of one FFT. Owns no device memory.
/// Immutable.
class FrameFft {
 public:
  /// Whether this engine supports the transform, and is faster for this number of frames than another engine
  /// that has to be planned. It takes at most 2^24 points in total and prime factors of at most 127 (large
  /// ones are summed directly), and lines must fit in a block's shared memory.
  static bool supports(const SpectrumExtents& extents, int device, std::int64_t frames = 1);

  /// Precondition: supports().
  FrameFft(const SpectrumExtents& extents, int device);

  /// Bytes of 256-byte aligned device memory for one transform.
  std::size_t workspace_bytes() const noexcept;
  /// `samples`: real for half spectra, else complex; contiguous, naturally aligned, device-visible. The
  /// spectrum is multiplied by `scale`. `power`, if not null, receives |X|², and kExcluded where
  /// exclude_conjugates() would set it. Stream-ordered, allocates nothing. Throws Error(device).
  void enqueue(const void* samples, Element type, std::complex<double>* spectrum, double* power, double scale,
               std::byte* workspace, Stream stream) const;

 private:
  void add_step(std::int64_t outer, std::int64_t n, std::int64_t inner, std::int64_t lanes);

  SpectrumExtents extents_;
  std::size_t shared_limit_;
  int multiprocessors_;
  std::vector<FrameFftStep> steps_;  ///< rows, then the other dimensions from the last to the first
  int table_size_ = 0;
};

/// Launchers of frame_fft.cu.
void launch_frame_tables(const std::vector<FrameFftStep>& steps, Complex<double>* table, int entries,
                         Stream stream);
struct FrameSamples {
  const void* data;
  Element type;
  bool half;  ///< real samples, of which half a spectrum is stored
  double scale;
};
void launch_frame_rows(const FrameFftStep& step, const Complex<double>* table, std::size_t shared_limit,
                       const FrameSamples& samples, Complex<double>* spectrum, Stream stream);
/// Works in place; `power` is given with the last step, else null.
void launch_frame_columns(const FrameFftStep& step, const Complex<double>* table, std::size_t shared_limit,
                          const SpectrumExtents& extents, Complex<double>* spectrum, double* power,
                          Stream stream);

}  // namespace sfft::detail::cuda
