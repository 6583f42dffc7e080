// SPDX-License-Identifier: Apache-2.0
// Stage "small FFT": batched FFTs of the bucket grid in device memory. They take one launch if a grid fits in
// a block's shared memory, else one launch per dimension; a long single dimension takes two steps.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/small_fft/fft_schedule.hpp"

namespace sfft::detail::cuda {

/// The addresses of a line's elements: element i of line l is at (l / inner)·outer + (l mod inner)·step +
/// i·stride.
struct LineMap {
  std::int64_t outer = 0, step = 0, stride = 1;
};

/// One launch: an FFT of every line, in shared memory. `inner` divides the lines of one transform.
template <class Real>
struct FftStep {
  FftSchedule fft;
  const Complex<Real>* table = nullptr;
  std::int64_t lines = 1;  ///< in one transform
  FastDivisor by_inner;
  int inner = 1;
  LineMap from, to;
  /// Twiddles w_n^{(l mod inner)·i} that follow the FFT, from two tables: w^{a} = low[a mod 256] · high[a /
  /// 256]; nullptr: none.
  const Complex<Real>* low = nullptr;
  const Complex<Real>* high = nullptr;
  int lines_per_block = 1, pitch = 1, threads = 256;
  std::int64_t shared_bytes = 0;
};

/// A plan for one grid; owns its tables. Immutable.
template <class Real>
class SmallFft {
 public:
  /// `grid`: `rank` extents, slowest first. Throws Error(not_sparse) if a dimension has no factors that fit
  /// the device's shared memory.
  SmallFft(const std::int64_t* grid, int rank, std::size_t shared_limit);

  /// Transforms `count` grids from `data`, using `scratch` of the same size; returns the one that holds the
  /// result. Stream-ordered, allocates nothing.
  Complex<Real>* execute(Complex<Real>* data, Complex<Real>* scratch, std::int64_t count,
                         Stream stream) const;

 private:
  /// Lines of a step. `total`: the length whose roots multiply them afterwards; 0: none do.
  struct Lines {
    std::int64_t count = 1;
    int inner = 1;
    LineMap from, to;
    std::int64_t total = 0;
  };
  void add_step(const std::int64_t* grid, int rank, const Lines& lines);

  std::size_t shared_limit_;
  std::vector<FftStep<Real>> steps_;
  std::vector<bool> in_place_;
  std::vector<DeviceBuffer> tables_;
  std::int64_t points_ = 1;
};

/// Launches one step over `count` transforms.
template <class Real>
void launch_fft_step(const FftStep<Real>& step, const Complex<Real>* in, Complex<Real>* out,
                     std::int64_t count, Stream stream);
/// Bytes of shared memory for `lines` lines of a schedule, and the pitch between them.
template <class Real>
std::int64_t fft_shared_bytes(const FftSchedule& fft, int lines, int& pitch);

}  // namespace sfft::detail::cuda
