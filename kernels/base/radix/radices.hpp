// SPDX-License-Identifier: Apache-2.0
// The list of radices. A new radix needs a Butterfly (kernels/base/radix/butterfly.hpp) and a row here. Every
// FFT uses the rows for which it has kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace sfft::detail {

struct RadixRow {
  int radix;
  /// Arithmetic of the butterfly: operations per point over 5 log2 R, relative to a power of two.
  double extra;
  /// CPU: nanoseconds of one full-vector butterfly with its twiddles on one Zen 5 core with AVX-512 (2026),
  /// with arrays in the L1 and in the L2 cache. Only their ratios matter; they are accurate enough for
  /// narrower vectors, which the L2 cache slows down little. 0: there is no kernel.
  double first_level_ns = 0, second_level_ns = 0;
  /// CPU: there is also a kernel for runs shorter than a vector.
  bool narrow = false;
  /// GPU: the block FFT of sparse plans (kernels/cuda/small_fft) has a pass for it. Generated kernels
  /// (kernels/dense/tuned) take every radix.
  bool block = false;
};

/// Largest first, because that is the order in which factorisations are searched.
constexpr RadixRow kRadices[] = {
    {54, 1.35},
    {48, 1.15},
    {45, 1.35},
    {42, 1.4},
    {40, 1.2},
    {36, 1.2},
    {35, 1.55},
    {32, 1},
    {30, 1.3},
    {28, 1.4},
    {26, 2.5},
    {27, 1.35},
    {25, 1.5},
    {24, 1.1},
    {22, 2.25},
    {21, 1.5},
    {20, 1.2},
    {18, 1.2},
    {17, 3.8},
    {16, 1, 23, 38, true},
    {15, 1.4, 24, 32.5},
    {14, 1.5},
    {13, 2.9, 30, 32},
    {12, 1.1, 14.6, 22},
    {11, 2.6, 19.6, 22},
    {10, 1.2, 11.5, 18},
    {9, 1.35, 11.6, 17.8, true, true},
    {8, 1, 7.5, 18, true, true},
    {7, 1.7, 8.4, 12.2, true, true},
    {6, 1.1, 5.4, 10.5, false, true},
    {5, 1.4, 4.8, 6.3, true, true},
    {4, 1, 2.75, 6.6, true, true},
    {3, 1.2, 2.24, 4.05, true, true},
    {2, 1, 1.24, 3, true, true},
};
constexpr std::size_t kRadixCount = std::size(kRadices);

/// Null if `radix` is not in the list.
constexpr const RadixRow* find_radix(std::int64_t radix) {
  for (const RadixRow& row : kRadices) {
    if (row.radix == radix) return &row;
  }
  return nullptr;
}

/// Whether a length is a product of radices.
constexpr bool has_radices(int length) {
  // Ascending: a composite radix divides only what its factors have left.
  for (auto row = std::rbegin(kRadices); row != std::rend(kRadices); ++row) {
    while (length > 1 && length % row->radix == 0) length /= row->radix;
  }
  return length == 1;
}

}  // namespace sfft::detail
