// SPDX-License-Identifier: Apache-2.0
// The matrices of folded lines, computed in double, and split into fp16 numbers.
#pragma once

#include <vector>

#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/base/tensor/folded.hpp"

namespace sfft::detail::tensor {

/// For each role (strip · 2 + type), row and column of tiles the high parts and the low parts: four words of
/// each lane, as mma.m16n8k16 reads its left operand.
template <class Tile>
std::vector<unsigned> folded_table(int points) {
  const auto entry = [&](bool sines, int k, int j) {
    if (2 * k > points || 2 * j > points) return 0.0;
    const std::complex<double> root = root_of_turns(static_cast<double>(j * k % points) / points);
    return std::ldexp(sines ? root.imag() : root.real(), kFoldedExponent - (j == 0 ? 1 : 0));
  };
  std::vector<unsigned> table;
  for (int strip = 0; strip < Tile::kStrips; ++strip) {
    for (int type = 0; type < Tile::kTypes; ++type) {
      for (int at = 0; at < Tile::kHeight * Tile::kTiles; ++at) {
        const int tile = at % Tile::kTiles, first = 16 * (strip * Tile::kHeight + at / Tile::kTiles);
        std::vector<unsigned> low;
        for (int word = 0; word < 4 * 32; ++word) {
          const int lane = word / 4, row = lane / 4 + word % 2 * 8, column = lane % 4 * 2 + word % 4 / 2 * 8;
          unsigned hi = 0, lo = 0;
          for (int i = 0; i < 2; ++i) {
            const int j = folded_pair<Tile>(4 * tile + folded_lane(column + i), folded_slot(column + i));
            const double value = entry(type == 1, first + row, j);
            const F16 high = to_f16(static_cast<float>(value));
            const F16 rest = to_f16(static_cast<float>(value - static_cast<double>(to_float(high))));
            hi |= static_cast<unsigned>(high.bits) << 16 * i;
            lo |= static_cast<unsigned>(rest.bits) << 16 * i;
          }
          table.push_back(hi);
          low.push_back(lo);
        }
        table.insert(table.end(), low.begin(), low.end());
      }
    }
  }
  return table;
}

}  // namespace sfft::detail::tensor
