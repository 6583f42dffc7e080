// SPDX-License-Identifier: Apache-2.0
// Each thread handles a value and its mirrored frequency.
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/stages/columns.hpp"

namespace sfft::detail::cuda {

namespace {

template <class Real, bool kPackReal>
__global__ void exchange_kernel(Complex<Real>* values, const MirroredColumns piece, double half) {
  const std::int64_t across = piece.columns / 2, total = piece.rows * across;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < total;
       i += step) {
    const std::int64_t row = i / across, column = i - row * across;
    const std::int64_t at = row * piece.columns + column, opposite = piece.rows * piece.columns - 1 - at;
    const double turns = static_cast<double>(row * piece.width + piece.first + column) /
                         static_cast<double>(piece.rows * piece.width);
    double re = 0, im = 0;  // parts of w^k
    sincospi(-turns, &im, &re);
    const Complex<Real> a = values[at], b = values[opposite];
    const double sum_re = half * (static_cast<double>(a.re) + b.re),
                 sum_im = half * (static_cast<double>(a.im) - b.im),
                 difference_re = half * (static_cast<double>(a.re) - b.re),
                 difference_im = half * (static_cast<double>(a.im) + b.im);
    double odd_re = 0, odd_im = 0;
    if constexpr (kPackReal) {  // i·conj(w^k)·(a − conj b)
      odd_re = difference_re * im - difference_im * re;
      odd_im = difference_re * re + difference_im * im;
    } else {  // −i·w^k·(a − conj b)
      odd_re = difference_im * re + difference_re * im;
      odd_im = difference_im * im - difference_re * re;
    }
    values[at] = {static_cast<Real>(sum_re + odd_re), static_cast<Real>(sum_im + odd_im)};
    values[opposite] = {static_cast<Real>(sum_re - odd_re), static_cast<Real>(odd_im - sum_im)};
  }
}

template <class Real, bool kPackReal>
void exchange(Complex<Real>* values, const MirroredColumns& piece, double half, Stream stream) {
  exchange_kernel<Real, kPackReal>
      <<<strided_blocks(piece.rows * piece.columns / 2), kThreads, 0, stream>>>(values, piece, half);
  check_launch("exchange of opposite frequencies");
}

}  // namespace

template <class Real>
void launch_unpack_real(Complex<Real>* values, const MirroredColumns& columns, double scale, Stream stream) {
  exchange<Real, false>(values, columns, 0.5 * scale, stream);
}
template <class Real>
void launch_pack_real(Complex<Real>* values, const MirroredColumns& columns, Stream stream) {
  exchange<Real, true>(values, columns, 1, stream);
}

template void launch_unpack_real(Complex<float>*, const MirroredColumns&, double, Stream);
template void launch_unpack_real(Complex<double>*, const MirroredColumns&, double, Stream);
template void launch_pack_real(Complex<float>*, const MirroredColumns&, Stream);
template void launch_pack_real(Complex<double>*, const MirroredColumns&, Stream);

}  // namespace sfft::detail::cuda
