// SPDX-License-Identifier: Apache-2.0
// The dense transform of one frame, in double, by an engine that takes microseconds to make: cuFFT takes
// longer to plan a transform than a GPU to do it some thirty times.
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

/// One launch: FFTs of lines, each as a whole in shared memory.
struct FrameFftStep {
  FftSchedule fft;
  std::int64_t outer = 1, inner = 1;  ///< lines in the slower and in the faster dimensions
  std::int64_t lanes = 1;             ///< FFTs; fewer than lines where one takes two real lines
  int lanes_per_block = 1, pitch = 1, threads = 32;
  std::int64_t blocks = 1, shared_bytes = 0;
  int table = 0;  ///< where the entries of its schedule begin
};

/// Two launches for an image, rows then columns, one more for its tables; one for every further dimension.
/// Two rows of real samples are the real and the imaginary part of one FFT. Owns no device memory. Immutable.
class FrameFft {
 public:
  /// Whether there is such a transform, and a plan of another engine would not pay for so many frames: at
  /// most 2^24 points in all of them, dimensions without a prime factor above 127 (sums over these are
  /// direct) whose lines fit a block's shared memory.
  static bool supports(const SpectrumExtents& extents, int device, std::int64_t frames = 1);

  /// For what is supported.
  FrameFft(const SpectrumExtents& extents, int device);

  /// Bytes of 256-byte aligned device memory for one transform.
  std::size_t workspace_bytes() const noexcept;
  /// `samples`: real for half spectra, else complex, contiguous, aligned as their type is, at an address that
  /// kernels can read. The spectrum is multiplied by `scale`; `power`, unless null, gets |X|², and kExcluded
  /// for what exclude_conjugates() excludes. Stream-ordered, allocates nothing. Throws Error(device).
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
void launch_frame_rows(const FrameFftStep& step, const Complex<double>* table, std::size_t shared_limit,
                       const void* samples, Element type, bool half, double scale, Complex<double>* spectrum,
                       Stream stream);
/// In place; `power`: with the last step, or null.
void launch_frame_columns(const FrameFftStep& step, const Complex<double>* table, std::size_t shared_limit,
                          const SpectrumExtents& extents, Complex<double>* spectrum, double* power,
                          Stream stream);

}  // namespace sfft::detail::cuda
