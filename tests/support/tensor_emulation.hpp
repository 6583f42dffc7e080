// SPDX-License-Identifier: Apache-2.0
// Runs passes of split-half transforms on the CPU: the kernels' own lane functions, with the matrix products
// of tensor cores done in software.
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

/// Toward zero, to multiples of a unit in the last place of the largest addend: what tensor cores keep at
/// least (Fasi, Higham, Mikaitis and Pranesh 2021, "Numerical behavior of NVIDIA tensor cores").
inline float truncated_sum(double sum, double largest) {
  if (!std::isfinite(sum) || largest == 0) return static_cast<float>(sum);
  const double unit = std::ldexp(1.0, std::ilogb(largest) - 23), cut = std::trunc(sum / unit) * unit;
  const auto rounded = static_cast<float>(cut);
  return std::fabs(static_cast<double>(rounded)) > std::fabs(cut) ? std::nextafterf(rounded, 0.0f) : rounded;
}

using WarpMatrix = std::array<tensor::LaneMatrix, 32>;

/// A matrix of 32×32 parts, as mma.m16n8k16 reads it from the lanes' registers: entry [half][k][tile][n].
class EmulatedMatrix {
 public:
  explicit EmulatedMatrix(const WarpMatrix& lanes) {
    for (int half = 0; half < 2; ++half) {
      for (int tile = 0; tile < 4; ++tile) {
        for (int lane = 0; lane < 32; ++lane) {
          for (int i = 0; i < 2; ++i) {
            const unsigned both = lanes[lane].at[half][tile][i];
            const int k = 2 * (lane & 3) + 8 * i, n = lane >> 2;
            at[half][k][8 * tile + n] = tensor::lower_half(both);
            at[half][k + 1][8 * tile + n] = tensor::upper_half(both);
          }
        }
      }
    }
  }
  double at[2][16][32];
};

/// One warp's products: the sums of 16 columns by 32 parts.
class EmulatedSums {
 public:
  /// sum += left·right, in two steps of 16 products each.
  void multiply_add(const std::array<tensor::LaneOperand, 32>& left, bool low, const EmulatedMatrix& right) {
    for (int half = 0; half < 2; ++half) {
      double rows[16][16];
      for (int lane = 0; lane < 32; ++lane) {
        const auto& registers = low ? left[lane].lo[half] : left[lane].hi[half];
        for (int i = 0; i < 4; ++i) {
          const int row = (lane >> 2) + 8 * (i & 1), k = 2 * (lane & 3) + 8 * (i >> 1);
          rows[row][k] = tensor::lower_half(registers[i]);
          rows[row][k + 1] = tensor::upper_half(registers[i]);
        }
      }
      for (int row = 0; row < 16; ++row) {
        double sum[32], largest[32];
        for (int n = 0; n < 32; ++n) {
          sum[n] = static_cast<double>(sum_[row][n]);
          largest[n] = std::fabs(sum[n]);
        }
        for (int k = 0; k < 16; ++k) {
          for (int n = 0; n < 32; ++n) {
            const double product = rows[row][k] * right.at[half][k][n];
            sum[n] += product;
            largest[n] = std::max(largest[n], std::fabs(product));
          }
        }
        for (int n = 0; n < 32; ++n) sum_[row][n] = truncated_sum(sum[n], largest[n]);
      }
    }
  }
  tensor::LanePoints of_lane(int lane) const {
    tensor::LanePoints points;
    for (int column = 0; column < 2; ++column) {
      for (int slot = 0; slot < 4; ++slot) {
        const float* at = sum_[(lane >> 2) + 8 * column] + 8 * slot + 2 * (lane & 3);
        points.at[column][slot] = {at[0], at[1]};
      }
    }
    return points;
  }

 private:
  float sum_[16][32] = {};
};

struct EmulatedMatrices {
  EmulatedMatrices(const unsigned* table, bool of16)
      : hi(lanes(table, of16, false)), lo(lanes(table, of16, true)) {}
  static WarpMatrix lanes(const unsigned* table, bool of16, bool low) {
    WarpMatrix all;
    for (int lane = 0; lane < 32; ++lane)
      all[lane] = of16 ? tensor::matrix16_of(table, lane, low) : tensor::matrix_of(table, lane, low);
    return all;
  }
  EmulatedMatrix hi, lo;
};

using WarpPoints = std::array<tensor::LanePoints, 32>;

inline void emulated_transform(const EmulatedMatrices& matrix, bool exact, bool split, WarpPoints& points) {
  std::array<tensor::LaneOperand, 32> operands;
  for (int lane = 0; lane < 32; ++lane) operands[lane] = tensor::operand_of(points[lane]);
  EmulatedSums sums;
  if (split && !exact) sums.multiply_add(operands, false, matrix.lo);
  if (split) sums.multiply_add(operands, true, matrix.hi);
  sums.multiply_add(operands, false, matrix.hi);
  for (int lane = 0; lane < 32; ++lane) points[lane] = sums.of_lane(lane);
}

template <class Tile>
class EmulatedBlock {
 public:
  EmulatedBlock(const tensor::Pass& pass, std::int64_t tile)
      : pass_(pass),
        base_(tensor::base_of(pass, tile, Tile::kLogLines)),
        first_(pass.tables.first_matrix, Tile::kFirstBits == 4),
        other_(pass.tables.matrix, true),
        shared_(std::size_t{1} << Tile::kBits),
        largest_(Tile::kScales),
        points_(Tile::kWarpTiles) {}

  void run() {
    for (int i = 0; i < Tile::kUnits; ++i) {
      for (int thread = 0; thread < Tile::kThreads; ++thread) {
        const unsigned position = tensor::unit_position<Tile>(thread, i);
        const tensor::Point* first = tensor::first_unit<Tile>(pass_, base_, thread);
        const tensor::PointPair unit = pass_.wide
                                           ? tensor::load_unit<Tile, true>(pass_, base_, first, thread, i)
                                           : tensor::load_unit<Tile, false>(pass_, base_, first, thread, i);
        *reinterpret_cast<tensor::PointPair*>(&shared_[tensor::swizzled(position)]) = unit;
        unsigned& largest = largest_[tensor::unit_scale<Tile>(position)];
        largest = std::max(largest, tensor::largest_bits<Tile>(unit));
      }
    }
    for_lanes([&](int lane, int warp_tile) {
      const tensor::Seat<Tile, 0> seat(lane, warp_tile);
      tensor::LanePoints& points = points_[warp_tile][lane];
      points = tensor::load_shared<Tile, 0>(seat, shared_.data());
      tensor::scale_in<Tile>(seat, largest_.data(), points);
    });
    stage<0>();
    for (int i = 0; i < Tile::kUnits; ++i) {
      for (int thread = 0; thread < Tile::kThreads; ++thread) {
        pass_.wide ? tensor::store_unit<Tile, true>(pass_, base_, shared_.data(), thread, i)
                   : tensor::store_unit<Tile, false>(pass_, base_, shared_.data(), thread, i);
      }
    }
  }

 private:
  template <class Use>
  void for_lanes(const Use& use) {
    for (int warp_tile = 0; warp_tile < Tile::kWarpTiles; ++warp_tile) {
      for (int lane = 0; lane < 32; ++lane) use(lane, warp_tile);
    }
  }

  template <int kStage>
  void stage() {
    for (WarpPoints& points : points_)
      emulated_transform(kStage == 0 ? first_ : other_, kStage == 0 && Tile::kExactFirst, pass_.split,
                         points);
    for_lanes([&](int lane, int warp_tile) {
      const tensor::Seat<Tile, kStage> seat(lane, warp_tile & -Tile::kTurns, warp_tile & (Tile::kTurns - 1));
      tensor::LanePoints& points = points_[warp_tile][lane];
      if constexpr (kStage + 1 < Tile::kStages) {
        tensor::twiddle<Tile, kStage>(seat, pass_.tables.twiddles, points);
        tensor::store_shared<Tile, kStage>(seat, points, shared_.data());
      } else {
        tensor::finish_lines<Tile>(pass_, base_, seat, largest_.data(), points);
        tensor::store_results<Tile>(seat, points, shared_.data());
      }
    });
    if constexpr (kStage + 1 < Tile::kStages) {
      for_lanes([&](int lane, int warp_tile) {
        points_[warp_tile][lane] = tensor::load_shared<Tile, kStage + 1>(
            tensor::Seat<Tile, kStage + 1>(lane, warp_tile), shared_.data());
      });
      stage<kStage + 1>();
    }
  }

  const tensor::Pass& pass_;
  tensor::TileBase base_;
  EmulatedMatrices first_, other_;
  std::vector<tensor::Point> shared_;
  std::vector<unsigned> largest_;
  std::vector<WarpPoints> points_;
};

/// Tables of a tile and a direction, on the host.
struct HostTables {
  HostTables(const tensor::PlannedPass& pass, int sign)
      : first(tensor::matrix_table(tensor::first_matrix(pass.log), sign)),
        other(tensor::matrix_table(tensor::kMatrix16, sign)) {
    tensor::with_tile(pass.kind, pass.log,
                      [&](auto tile) { twiddles = tensor::twiddle_table<decltype(tile)>(sign); });
  }
  tensor::Tables get() const { return {first.data(), other.data(), twiddles.data()}; }
  std::vector<unsigned> first, other;
  std::vector<tensor::Point> twiddles;
};

struct EmulatedOptions {
  int sign = -1;
  float factor = 1;
  bool split = true;
  bool wide = true;  ///< pairs at once, where arrays are aligned to them
};

/// A batch of transforms of 2^logs points, slowest dimension first; out of place.
inline std::vector<std::complex<float>> emulated_tensor_fft(const std::vector<std::complex<float>>& signals,
                                                            const std::vector<int>& logs,
                                                            const EmulatedOptions& options = {}) {
  int log = 0;
  for (const int one : logs) log += one;
  const std::vector<tensor::PlannedPass> passes =
      tensor::planned_passes(logs, static_cast<std::int64_t>(signals.size() >> log));
  std::vector<std::complex<float>> result(signals.size(), {NAN, NAN}), workspace(result);
  auto& between = tensor::need_workspace(passes) ? workspace : result;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const bool first = i == 0, last = i + 1 == passes.size();
    const HostTables tables(passes[i], options.sign);
    tensor::Pass pass = passes[i].pass;
    pass.from = reinterpret_cast<const tensor::Point*>((first ? signals : between).data());
    pass.to = reinterpret_cast<tensor::Point*>((last ? result : between).data());
    pass.sign = static_cast<float>(options.sign);
    pass.factor = last ? options.factor : 1;
    pass.split = options.split;
    pass.tables = tables.get();
    pass.wide = options.wide && reinterpret_cast<std::uintptr_t>(pass.from) % 16 == 0 &&
                reinterpret_cast<std::uintptr_t>(pass.to) % 16 == 0;
    tensor::with_tile(passes[i].kind, passes[i].log, [&](auto tile) {
      for (std::int64_t b = 0; b < pass.tiles; ++b) EmulatedBlock<decltype(tile)>(pass, b).run();
    });
  }
  return result;
}
inline std::vector<std::complex<float>> emulated_tensor_fft(const std::vector<std::complex<float>>& signals,
                                                            int log, const EmulatedOptions& options = {}) {
  return emulated_tensor_fft(signals, std::vector<int>{log}, options);
}

}  // namespace sfft::test
