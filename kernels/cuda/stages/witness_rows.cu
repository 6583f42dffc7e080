// SPDX-License-Identifier: Apache-2.0
// One thread computes one sample and coefficient. When the host computed these tables and sent them over the
// bus, they took a tenth of the planning time.
#include "kernels/base/math/index.hpp"
#include "kernels/cuda/stages/stages.hpp"

namespace sfft::detail::cuda {

namespace {

constexpr int kThreads = 128;

/// f·t/n modulo 1, exact until the division.
__device__ double turns(std::int64_t f, std::int64_t t, std::int64_t n) {
  constexpr std::int64_t kShort = std::int64_t{1} << 31;
  const std::int64_t rest = n <= kShort ? f * t % n : multiply_mod(f, t, n);
  return static_cast<double>(rest) / static_cast<double>(n);
}

template <class Real>
__global__ void witness_rows_kernel(GridShape shape, bool real, const std::int64_t* support,
                                    const std::uint8_t* flags, int k, const std::int64_t* samples, int pitch,
                                    Complex<Real>* rows) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= pitch) return;
  Complex<Real> row{0, 0};
  if (i < k) {
    std::int64_t f = support[i], t = samples[blockIdx.y];
    double turn = 0, points = 1;
    for (int d = shape.rank - 1; d >= 0; --d) {
      const std::int64_t n = shape.extents[d];
      turn += turns(f % n, t % n, n);
      points *= static_cast<double>(n);
      f /= n;
      t /= n;
    }
    double s, c;
    sincospi(2 * (turn - floor(turn)), &s, &c);
    // In a real signal, f contributes X times the root and −f the conjugate of that, so real parts add up.
    const double parts = (real && (flags[i] & kDistinctConjugate) != 0 ? 2 : 1) / points;
    row = {static_cast<Real>(parts * c), static_cast<Real>(-parts * s)};
  }
  rows[static_cast<std::size_t>(blockIdx.y) * pitch + i] = row;
}

}  // namespace

template <class Real>
void launch_witness_rows(const WitnessLayout& of, Complex<Real>* rows, Stream stream) {
  const dim3 blocks(static_cast<unsigned>((of.pitch + kThreads - 1) / kThreads),
                    static_cast<unsigned>(of.count));
  witness_rows_kernel<<<blocks, kThreads, 0, stream>>>(of.shape, of.real, of.support, of.flags, of.k,
                                                       of.samples, of.pitch, rows);
  check_launch("witness rows");
}

template void launch_witness_rows<float>(const WitnessLayout&, Complex<float>*, Stream);
template void launch_witness_rows<double>(const WitnessLayout&, Complex<double>*, Stream);

}  // namespace sfft::detail::cuda
