// SPDX-License-Identifier: Apache-2.0
// Products with vectors use four sums, each over every fourth row, because a single sum would be one long
// dependency chain. Products with blocks keep the sums of a few blocks in registers.
#include <algorithm>

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

/// The sums of `kTile` blocks for one grain of columns. Short partial sums keep rounding errors small.
template <class Real, int kTile>
void block_tile(const Real* x, std::int64_t rows, const Real* matrix, Real* to, std::int64_t width) {
  using Ops = Simd<Real>;
  using Vector = typename Ops::Vector;
  constexpr int kVectors = static_cast<int>(kBlockGrain<Real>) / Ops::kLanes;
  constexpr std::int64_t kPartial = 64;
  Vector totals[kTile][kVectors] = {};
  for (std::int64_t first = 0; first < rows; first += kPartial) {
    Vector sums[kTile][kVectors] = {};
    const std::int64_t end = std::min(rows, first + kPartial);
    for (int b = 0; b < kTile; ++b) {  // of the next tile: its rows are too short for the processor's guess
      for (std::int64_t i = first; i < end; i += kBlockGrain<Real>)
        __builtin_prefetch(x + (kTile + b) * rows + i);
    }
    for (std::int64_t i = first; i < end; ++i) {
      Vector row[kVectors];
      for (int v = 0; v < kVectors; ++v) row[v] = Ops::load(matrix + i * kBlockGrain<Real> + v * Ops::kLanes);
      for (int b = 0; b < kTile; ++b) {
        const Vector value = Ops::broadcast(x[b * rows + i]);
        for (int v = 0; v < kVectors; ++v) sums[b][v] += row[v] * value;
      }
    }
    for (int b = 0; b < kTile; ++b)
      for (int v = 0; v < kVectors; ++v) totals[b][v] += sums[b][v];
  }
  for (int b = 0; b < kTile; ++b) {
    for (int v = 0; v < kVectors; ++v) Ops::store(to + b * width + v * Ops::kLanes, totals[b][v]);
  }
}

template <class Real>
void blocks(const Real* x, std::int64_t blocks, std::int64_t rows, const Real* matrix, std::int64_t width,
            Real* to) {
  constexpr int kTile = SFFT_VECTOR_BYTES / 8;  // with 8 sums in registers
  for (std::int64_t b = 0; b < blocks;) {
    const std::int64_t tile = blocks - b < kTile ? 1 : kTile;
    for (std::int64_t j = 0; j < width; j += kBlockGrain<Real>) {
      const Real* const columns = matrix + j * rows;
      if (tile == kTile)
        block_tile<Real, kTile>(x + b * rows, rows, columns, to + b * width + j, width);
      else
        block_tile<Real, 1>(x + b * rows, rows, columns, to + b * width + j, width);
    }
    b += tile;
  }
}

template <class Real>
constexpr MatrixKernels<Real> kTable{product<Real>, blocks<Real>};

}  // namespace

const MatrixKernels<float>& matrix_table_float() noexcept {
  return kTable<float>;
}
const MatrixKernels<double>& matrix_table_double() noexcept {
  return kTable<double>;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
