// SPDX-License-Identifier: Apache-2.0
// Scans 64 elements at a time. If their largest power is below the level, which is the usual case, single
// elements are not examined.
#include "kernels/cpu/small_fft/small_fft_pass.hpp"
#include "kernels/cpu/stages/spectrum_scan.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

constexpr std::int64_t kWidth = 8;
using V = VectorOf<double, kWidth>::Type;

struct Sums {
  V sum{}, largest{};
  double alone = 0;  ///< sum of the elements that were examined one by one
  double largest_alone = 0;
  std::int64_t found = 0;
};

void one_by_one(const double* re, const double* im, std::int64_t count, std::int64_t offset, double level,
                std::int64_t* offsets, Sums& sums) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double power = re[i] * re[i] + im[i] * im[i];
    if (power >= level) {
      offsets[sums.found++] = offset + i;
    } else {
      sums.alone += power;
      if (power > sums.largest_alone) sums.largest_alone = power;
    }
  }
}

template <int kVectors>
SFFT_BUTTERFLY void chunk(const double* re, const double* im, std::int64_t offset, double level,
                          std::int64_t* offsets, Sums& sums) {
  V powers[kVectors];
  V total{}, largest{};
  SFFT_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const V x = load_vector<V>(re + v * kWidth), y = load_vector<V>(im + v * kWidth);
    powers[v] = x * x + y * y;
    total += powers[v];
    largest = powers[v] > largest ? powers[v] : largest;
  }
  double top = largest[0];
  SFFT_UNROLL
  for (int i = 1; i < kWidth; ++i) top = largest[i] > top ? largest[i] : top;
  if (top >= level) {
    total = largest = V{};
    double each[kVectors * kWidth];
    SFFT_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      store_vector(each + v * kWidth, powers[v]);
      powers[v] = powers[v] >= level ? V{} : powers[v];
      total += powers[v];
      largest = powers[v] > largest ? powers[v] : largest;
    }
    // Branch-free, because large powers often occur in groups, in no particular order.
    for (int i = 0; i < kVectors * kWidth; ++i) {
      offsets[sums.found] = offset + i;
      sums.found += each[i] >= level ? 1 : 0;
    }
  }
  sums.sum += total;
  sums.largest = largest > sums.largest ? largest : sums.largest;
}

SpectrumScan scan(const double* re, const double* im, std::int64_t stride, std::int64_t rows,
                  std::int64_t columns, double level, std::int64_t* offsets) {
  constexpr std::int64_t kChunk = 8 * kWidth;
  Sums sums;
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t start = r * stride;
    std::int64_t c = start;
    for (; c + kChunk <= start + columns; c += kChunk) chunk<8>(re + c, im + c, c, level, offsets, sums);
    for (; c + kWidth <= start + columns; c += kWidth) chunk<1>(re + c, im + c, c, level, offsets, sums);
    one_by_one(re + c, im + c, start + columns - c, c, level, offsets, sums);
  }
  SpectrumScan result{sums.alone, sums.largest_alone, sums.found};
  for (int i = 0; i < kWidth; ++i) {
    result.sum += sums.sum[i];
    if (sums.largest[i] > result.largest) result.largest = sums.largest[i];
  }
  return result;
}

constexpr SpectrumScanKernels kTable{scan};

}  // namespace

const SpectrumScanKernels& spectrum_scan_table() noexcept {
  return kTable;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
