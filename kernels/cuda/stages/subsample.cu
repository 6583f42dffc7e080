// SPDX-License-Identifier: Apache-2.0
// One thread per bucket sums its taps over the folds and loops over lines.
#include "kernels/cuda/stages/stages.hpp"

#include "kernels/cuda/runtime/launch.hpp"

namespace sfft::detail::cuda {

namespace {

template <class Real>
__global__ void subsample_kernel(const Complex<Real>* __restrict__ taps, const Real* __restrict__ window,
                                 int points, int folds, std::int64_t lines, Complex<Real>* __restrict__ out) {
  const int b = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (b >= points) return;
  for (std::int64_t line = blockIdx.y; line < lines; line += gridDim.y) {
    Complex<Real> sum{0, 0};
    for (int a = 0; a < folds; ++a) {
      const int m = b + a * points;
      const Complex<Real> z = taps[line * folds * points + m];
      sum.re += window[m] * z.re;
      sum.im += window[m] * z.im;
    }
    out[line * points + b] = sum;
  }
}

}  // namespace

template <class Real>
void launch_subsample(const Binning<Real>& plan, std::int64_t lines, const Complex<Real>* taps,
                      Complex<Real>* out, Stream stream) {
  const dim3 grid(static_cast<unsigned>((plan.points() + kThreads - 1) / kThreads),
                  static_cast<unsigned>(lines < 65535 ? lines : 65535));
  subsample_kernel<Real>
      <<<grid, kThreads, 0, stream>>>(taps, plan.window, plan.points(), plan.folds, lines, out);
  check_launch("subsample");
}

template void launch_subsample<float>(const Binning<float>&, std::int64_t, const Complex<float>*,
                                      Complex<float>*, Stream);
template void launch_subsample<double>(const Binning<double>&, std::int64_t, const Complex<double>*,
                                       Complex<double>*, Stream);

}  // namespace sfft::detail::cuda
