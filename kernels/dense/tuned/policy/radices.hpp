// SPDX-License-Identifier: Apache-2.0
// The radices that kernels are made of. A new one needs a Butterfly (kernels/base/butterfly.hpp) and a row
// here.
#pragma once

#include <iterator>

namespace sfft::detail::tuned {

struct RadixRow {
  int radix;
  /// Arithmetic of the butterfly, over 5 log2 R operations per point: counted, relative to a power of two.
  double extra;
};

/// Largest first: the order in which factorisations are searched.
constexpr RadixRow kRadices[] = {{40, 1.2}, {36, 1.2}, {32, 1},   {30, 1.3}, {27, 1.35}, {25, 1.5},
                                 {24, 1.1}, {20, 1.2}, {18, 1.2}, {17, 3.8}, {16, 1},    {15, 1.4},
                                 {13, 2.9}, {12, 1.1}, {11, 2.6}, {10, 1.2}, {9, 1.35},  {8, 1},
                                 {7, 1.7},  {6, 1.1},  {5, 1.4},  {4, 1},    {3, 1.2},   {2, 1}};

/// Null for a number that is not a radix.
constexpr const RadixRow* find_radix(int radix) {
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

}  // namespace sfft::detail::tuned
