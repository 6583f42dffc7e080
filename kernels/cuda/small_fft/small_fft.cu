// SPDX-License-Identifier: Apache-2.0
// A block loads several lines as the first pass of their FFTs, runs the other passes in shared memory, and
// stores the lines so that neighbouring threads write neighbouring elements.
#include "kernels/cuda/small_fft/small_fft.hpp"

#include "kernels/base/radix/radices.hpp"
#include "kernels/cuda/small_fft/block_fft.cuh"

namespace sfft::detail::cuda {

namespace {

constexpr bool every_block_radix_is_switched() {
  for (const RadixRow& row : kRadices) {
    bool found = false;
    for (const int radix : kSwitchedRadices) found = found || radix == row.radix;
    if (found != row.block) return false;
  }
  return true;
}
static_assert(every_block_radix_is_switched(), "a row of kRadices and the cases of SFFT_RADIX_SWITCH differ");

constexpr int kMaxThreads = 512;

template <class Real>
struct StepArguments {
  FftStep<Real> step;
  FastDivisor by_lines, by_points;
  const Complex<Real>* in;
  Complex<Real>* out;
  std::int64_t lines;
  int buffer1;
};

template <class Real>
__device__ __forceinline__ std::int64_t line_start(const FftStep<Real>& step, const LineMap& map,
                                                   std::int64_t line) {
  const auto outer = static_cast<std::int64_t>(step.by_inner.divide(static_cast<std::uint32_t>(line)));
  return outer * map.outer + (line - outer * step.inner) * map.step;
}

template <int R, class Real>
__device__ __forceinline__ void load_pass(const StepArguments<Real>& a, std::int64_t first_line, int lines) {
  const FftStep<Real>& step = a.step;
  const FftPass& pass = step.fft.pass[0];
  const int butterflies = step.fft.points / R;
  for (int t = threadIdx.x; t < step.lines_per_block * butterflies; t += blockDim.x) {
    const int u = static_cast<int>(a.by_lines.divide(t));
    const int lane = t - u * step.lines_per_block;
    if (lane >= lines) continue;
    const int outer = static_cast<int>(pass.by_columns.divide(u));
    const int p = u - outer * pass.columns;
    const int base = outer * pass.columns * R;
    const Complex<Real>* in = a.in + line_start(step, step.from, first_line + lane);
    Complex<Real>* out = shared_at<Complex<Real>>(0) + lane * step.pitch;
    Radix<R, Real>::run(
        pass,
        [&](int j, Real& re, Real& im) {
          const Complex<Real> z = in[(base + p + j * pass.columns) * step.from.stride];
          re = z.re;
          im = z.im;
        },
        [&] { return Twiddles<R, Real>::template load<true>(pass, step.table, p); },
        [&](int r, Real re, Real im) {
          out[padded<Real>(base + p * R + r)] = {re, im};
        });
  }
}

template <class Real>
__global__ void __launch_bounds__(kMaxThreads) step_kernel(const __grid_constant__ StepArguments<Real> a) {
  const FftStep<Real>& step = a.step;
  const std::int64_t first_line = static_cast<std::int64_t>(blockIdx.x) * step.lines_per_block;
  const std::int64_t left = a.lines - first_line;
  const int lines = left < step.lines_per_block ? static_cast<int>(left) : step.lines_per_block;
#define SFFT_LOAD(R) load_pass<R, Real>(a, first_line, lines);
  SFFT_RADIX_SWITCH(step.fft.pass[0].radix, SFFT_LOAD, (load_pass<1, Real>(a, first_line, lines));)
#undef SFFT_LOAD
  later_passes<Real>(step.fft.pass, step.fft.passes, step.fft.points, step.table, 0, a.buffer1, lines,
                     step.pitch);
  const Complex<Real>* result = shared_at<Complex<Real>>(step.fft.passes % 2 == 1 ? 0 : a.buffer1);
  const int points = step.fft.points;
  const bool line_fastest = step.to.stride != 1;
  for (int t = threadIdx.x; t < step.lines_per_block * points; t += blockDim.x) {
    const int high = static_cast<int>((line_fastest ? a.by_lines : a.by_points).divide(t));
    const int low = t - high * (line_fastest ? step.lines_per_block : points);
    const int lane = line_fastest ? low : high;
    const int i = line_fastest ? high : low;
    if (lane >= lines) continue;
    Complex<Real> z = result[lane * step.pitch + padded<Real>(i)];
    const std::int64_t line = first_line + lane;
    if (step.low != nullptr) {
      const auto column =
          line -
          static_cast<std::int64_t>(step.by_inner.divide(static_cast<std::uint32_t>(line))) * step.inner;
      const int turn = static_cast<int>(column) * i;
      const Complex<Real> fine = step.low[turn % 256], coarse = step.high[turn / 256];
      multiply(z.re, z.im, fine.re, fine.im);
      multiply(z.re, z.im, coarse.re, coarse.im);
    }
    a.out[line_start(step, step.to, line) + i * step.to.stride] = z;
  }
}

}  // namespace

template <class Real>
std::int64_t fft_shared_bytes(const FftSchedule& fft, int lines, int& pitch) {
  pitch = lane_pitch<Real>(fft.points, lines);
  const std::int64_t buffer =
      static_cast<std::int64_t>(pitch) * lines * static_cast<std::int64_t>(sizeof(Complex<Real>));
  return fft.passes > 1 ? 2 * buffer : buffer;
}

template <class Real>
void launch_fft_step(const FftStep<Real>& step, const Complex<Real>* in, Complex<Real>* out,
                     std::int64_t count, Stream stream) {
  StepArguments<Real> arguments{step,
                                FastDivisor(static_cast<std::uint32_t>(step.lines_per_block)),
                                FastDivisor(static_cast<std::uint32_t>(step.fft.points)),
                                in,
                                out,
                                count * step.lines,
                                static_cast<int>(step.fft.passes > 1 ? step.shared_bytes / 2 : 0)};
  check(cudaFuncSetAttribute(step_kernel<Real>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(step.shared_bytes)),
        "reserving shared memory for the small FFT");
  const std::int64_t blocks = (arguments.lines + step.lines_per_block - 1) / step.lines_per_block;
  step_kernel<Real><<<static_cast<unsigned>(blocks), static_cast<unsigned>(step.threads),
                      static_cast<std::size_t>(step.shared_bytes), stream>>>(arguments);
  check_launch("small FFT");
}

#define SFFT_INSTANTIATE(Real)                                                                    \
  template std::int64_t fft_shared_bytes<Real>(const FftSchedule&, int, int&);                    \
  template void launch_fft_step<Real>(const FftStep<Real>&, const Complex<Real>*, Complex<Real>*, \
                                      std::int64_t, Stream);
SFFT_INSTANTIATE(float)
SFFT_INSTANTIATE(double)

}  // namespace sfft::detail::cuda
