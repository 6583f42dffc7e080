// SPDX-License-Identifier: Apache-2.0
// Uses four sums, each over every fourth row, because a single sum would be one long dependency chain.
#include "kernels/cpu/platform/simd.hpp"
#include "kernels/cpu/stages/matrix_product.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

template <class Real>
void product(const Real* x, std::int64_t rows, const Real* matrix, std::int64_t width, Real scale, Real* to) {
  using Ops = Simd<Real>;
  using Vector = typename Ops::Vector;
  for (std::int64_t j = 0; j < width; j += Ops::kLanes) {
    Vector sums[kMatrixRows] = {};
    for (std::int64_t i = 0; i < rows; i += kMatrixRows) {
      const Real* const row = matrix + i * width + j;
      for (int r = 0; r < kMatrixRows; ++r) sums[r] += Ops::load(row + r * width) * x[i + r];
    }
    Ops::store(to + j, ((sums[0] + sums[1]) + (sums[2] + sums[3])) * scale);
  }
}

template <class Real>
constexpr MatrixKernels<Real> kTable{product<Real>};

}  // namespace

const MatrixKernels<float>& matrix_table_float() noexcept {
  return kTable<float>;
}
const MatrixKernels<double>& matrix_table_double() noexcept {
  return kTable<double>;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
