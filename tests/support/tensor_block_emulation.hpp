// SPDX-License-Identifier: Apache-2.0
// Runs passes of split-half transforms on the CPU: it calls the kernels' lane functions and computes the
// matrix products of tensor cores in software.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/base/tensor/passes.hpp"
#include "kernels/base/tensor/results.hpp"
#include "kernels/base/tensor/tables.hpp"

namespace sfft::test {

namespace tensor = detail::tensor;

/// Relative L2 error of split-half transforms, at every length and scale.
constexpr double kTensorBound = 6e-7;

/// Complex numbers with parts uniform in (−scale, scale).
inline std::vector<std::complex<float>> uniform_noise(std::size_t count, unsigned seed, float scale = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-scale, scale);
  std::vector<std::complex<float>> values(count);
  for (auto& value : values) value = {uniform(random), uniform(random)};
  return values;
}

/// Rounds toward zero, to multiples of a unit in the last place of the largest addend. Tensor cores keep at
/// least that much (Fasi, Higham, Mikaitis and Pranesh 2021, "Numerical behavior of NVIDIA tensor cores").
inline float truncated_sum(double sum, double largest) {
  if (!std::isfinite(sum) || largest == 0) return static_cast<float>(sum);
  const double unit = std::ldexp(1.0, std::ilogb(largest) - 23), cut = std::trunc(sum / unit) * unit;
  const auto rounded = static_cast<float>(cut);
  return std::fabs(static_cast<double>(rounded)) > std::fabs(cut) ? std::nextafterf(rounded, 0.0f) : rounded;
}

template <int kProducts>
using WarpMatrix = std::array<tensor::LaneMatrix<kProducts>, 32>;
using WarpOperand = std::array<tensor::LaneOperand, 32>;

/// A matrix of 16×16 parts as mma.m16n8k16 reads it from the lanes' registers. Entries are [k][s][n].
struct EmulatedMatrix {
  template <int kProducts>
  EmulatedMatrix(const WarpMatrix<kProducts>& lanes, int a) {
    for (int s = 0; s < 2; ++s) {
      for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < 2; ++i) {
          const unsigned both = lanes[lane].at[a][s][i];
          const int k = 2 * (lane & 3) + 8 * i, n = lane >> 2;
          at[k][8 * s + n] = tensor::lower_half(both);
          at[k + 1][8 * s + n] = tensor::upper_half(both);
        }
      }
    }
  }
  double at[16][16];
};

/// One warp's products: the sums of 16 columns by 16 parts.
class EmulatedSums {
 public:
  /// sum += left·right.
  void multiply_add(const WarpOperand& left, bool low, const EmulatedMatrix& right) {
    double rows[16][16];
    for (int lane = 0; lane < 32; ++lane) {
      const auto& registers = low ? left[lane].lo : left[lane].hi;
      for (int i = 0; i < 4; ++i) {
        const int row = (lane >> 2) + 8 * (i & 1), k = 2 * (lane & 3) + 8 * (i >> 1);
        rows[row][k] = tensor::lower_half(registers[i]);
        rows[row][k + 1] = tensor::upper_half(registers[i]);
      }
    }
    for (int row = 0; row < 16; ++row) {
      double sum[16], largest[16];
      for (int n = 0; n < 16; ++n) {
        sum[n] = static_cast<double>(sum_[row][n]);
        largest[n] = std::fabs(sum[n]);
      }
      for (int k = 0; k < 16; ++k) {
        for (int n = 0; n < 16; ++n) {
          const double product = rows[row][k] * right.at[k][n];
          sum[n] += product;
          largest[n] = std::max(largest[n], std::fabs(product));
        }
      }
      for (int n = 0; n < 16; ++n) sum_[row][n] = truncated_sum(sum[n], largest[n]);
    }
  }
  /// The point of a column that a lane holds, for s = 0 or 1.
  tensor::Point of_lane(int lane, int s, int column) const {
    const float* at = sum_[(lane >> 2) + 8 * column] + 8 * s + 2 * (lane & 3);
    return {at[0], at[1]};
  }

 private:
  float sum_[16][16] = {};
};

/// The high and low parts of the matrices of a tile's stages.
struct EmulatedMatrices {
  EmulatedMatrices(const unsigned* table) {
    for (const bool low : {false, true}) {
      WarpMatrix<tensor::kMatrices> all;
      for (int lane = 0; lane < 32; ++lane)
        all[lane] = tensor::matrix_of<tensor::kMatrices>(table, lane, low);
      for (int a = 0; a < tensor::kMatrices; ++a) (low ? lo : hi).emplace_back(all, a);
    }
  }
  std::vector<EmulatedMatrix> hi, lo;
};

template <int kSlots>
using WarpPoints = std::array<tensor::LanePoints<kSlots>, 32>;

template <int kSlots>
void emulated_transform(const EmulatedMatrices& matrices, bool exact, bool split, float sign,
                        WarpPoints<kSlots>& points) {
  constexpr int kProducts = kSlots / 2;
  for (int a = 0; a < kProducts; ++a) {
    const auto number = static_cast<std::size_t>(a * (tensor::kMatrices / kProducts));
    WarpOperand operands;
    for (int lane = 0; lane < 32; ++lane) operands[lane] = tensor::operand_of(points[lane], a);
    EmulatedSums sums;
    if (split) sums.multiply_add(operands, true, matrices.hi[number]);
    if (split && !exact) sums.multiply_add(operands, false, matrices.lo[number]);
    sums.multiply_add(operands, false, matrices.hi[number]);
    for (int lane = 0; lane < 32; ++lane) {
      for (int column = 0; column < 2; ++column) {
        for (int s = 0; s < 2; ++s)
          points[lane].at[column][s * kProducts + a] = sums.of_lane(lane, s, column);
      }
    }
  }
  for (int lane = 0; lane < 32; ++lane) tensor::combine(sign, points[lane]);
}

template <class Tile>
class EmulatedBlock {
 public:
  EmulatedBlock(const tensor::Pass& pass, std::int64_t tile)
      : pass_(pass),
        base_(tensor::base_of(pass, tile, Tile::kLogLines)),
        matrices_(pass.tables.matrices),
        shared_(std::size_t{1} << Tile::kBits),
        largest_(Tile::kLargest) {}

  void run() {
    constexpr int kTiles = 1 << Tile::log_warp_tiles(0);
    std::vector<WarpPoints<Tile::slots(0)>> all(kTiles);
    std::vector<std::array<tensor::LaneLargest, 32>> own(kTiles);
    for (int warp_tile = 0; warp_tile < kTiles; ++warp_tile) {
      for (int lane = 0; lane < 32; ++lane) {
        const tensor::Seat<Tile, 0> seat = seat_of<0>(lane, warp_tile);
        pass_.wide ? tensor::load_samples<Tile, true>(pass_, base_, seat, all[warp_tile][lane])
                   : tensor::load_samples<Tile, false>(pass_, base_, seat, all[warp_tile][lane]);
        own[warp_tile][lane] = tensor::own_largest<Tile>(all[warp_tile][lane]);
      }
      for (int bit = 0; bit < tensor::kLaneBits; ++bit) {
        if (!Tile::same_line(bit)) continue;
        const auto before = own[warp_tile];
        for (int lane = 0; lane < 32; ++lane) {
          for (int column = 0; column < 2; ++column) {
            unsigned& max = own[warp_tile][lane].at[column];
            max = std::max(max, before[lane ^ 1 << bit].at[column]);
          }
        }
      }
      for (int lane = 0; lane < 32; ++lane)
        largest_[tensor::largest_place<Tile>(seat_of<0>(lane, warp_tile), 0)] = own[warp_tile][lane].at[0];
    }
    for (int warp_tile = 0; warp_tile < kTiles; ++warp_tile) {
      for (int lane = 0; lane < 32; ++lane) {
        if (Tile::kLogParts > 0) {
          const unsigned max =
              tensor::largest_of<Tile>(largest_.data(), seat_of<0>(lane, warp_tile).position);
          own[warp_tile][lane] = {{max, max}};
        }
        tensor::scale_in<Tile>(own[warp_tile][lane], all[warp_tile][lane]);
      }
      emulated_transform(matrices_, Tile::kShort, pass_.split, pass_.sign, all[warp_tile]);
      for (int lane = 0; lane < 32; ++lane) {
        const auto seat = seat_of<0>(lane, warp_tile);
        if constexpr (Tile::kLast == 0) {
          leave(seat, own[warp_tile][lane], all[warp_tile][lane]);
        } else {
          tensor::twiddle<Tile>(tensor::load_twiddles<Tile>(pass_.tables.twiddles, seat.lane, seat.warp_tile),
                                all[warp_tile][lane]);
          tensor::store_shared<Tile>(seat, all[warp_tile][lane], shared_.data());
        }
      }
    }
    if constexpr (Tile::kLast > 0) last_stage();
  }

 private:
  template <int kStage>
  static tensor::Seat<Tile, kStage> seat_of(int lane, int warp_tile) {
    const int turns = Tile::turns(kStage);
    return {lane, warp_tile & -turns, warp_tile & (turns - 1)};
  }
  void last_stage() {
    for (int warp_tile = 0; warp_tile < 1 << Tile::log_warp_tiles(Tile::kLast); ++warp_tile) {
      WarpPoints<Tile::slots(Tile::kLast)> points;
      for (int lane = 0; lane < 32; ++lane)
        tensor::load_shared<Tile>(seat_of<Tile::kLast>(lane, warp_tile), shared_.data(), points[lane]);
      emulated_transform(matrices_, false, pass_.split, pass_.sign, points);
      for (int lane = 0; lane < 32; ++lane) {
        const auto seat = seat_of<Tile::kLast>(lane, warp_tile);
        leave(seat,
              {{tensor::largest_of<Tile>(largest_.data(), seat.position),
                tensor::largest_of<Tile>(largest_.data(), seat.position | seat.column_offset(1))}},
              points[lane]);
      }
    }
  }
  void leave(const tensor::LastSeat<Tile>& seat, const tensor::LaneLargest& largest,
             tensor::LastPoints<Tile>& points) {
    tensor::scale_out<Tile>(largest, pass_.factor, points);
    if constexpr (Tile::kColumns) {
      const auto of_slot = [&](unsigned line, int slot) {
        return tensor::pass_root(pass_, base_, line, tensor::frequency_of_slot<Tile>(slot));
      };
      tensor::twiddle_pass(tensor::pass_factors<Tile>(pass_, base_, seat, of_slot), points);
    }
    pass_.wide ? tensor::store_results<Tile, true>(pass_, base_, seat, points)
               : tensor::store_results<Tile, false>(pass_, base_, seat, points);
  }

  const tensor::Pass& pass_;
  tensor::TileBase base_;
  EmulatedMatrices matrices_;
  std::vector<tensor::Point> shared_;
  std::vector<unsigned> largest_;
};

}  // namespace sfft::test
