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

template <int kProducts>
using WarpMatrix = std::array<tensor::LaneMatrix<kProducts>, 32>;
using WarpOperand = std::array<tensor::LaneOperand, 32>;

/// A matrix of 16×16 parts, as mma.m16n8k16 reads it from the lanes' registers: entry [k][s][n].
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
  /// What a lane has of a column, for s = 0 or 1.
  tensor::Point of_lane(int lane, int s, int column) const {
    const float* at = sum_[(lane >> 2) + 8 * column] + 8 * s + 2 * (lane & 3);
    return {at[0], at[1]};
  }

 private:
  float sum_[16][16] = {};
};

/// Matrices of a tile's stages, high and low parts.
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
            unsigned& most = own[warp_tile][lane].at[column];
            most = std::max(most, before[lane ^ 1 << bit].at[column]);
          }
        }
      }
      for (int lane = 0; lane < 32; ++lane)
        largest_[tensor::largest_place<Tile>(seat_of<0>(lane, warp_tile), 0)] = own[warp_tile][lane].at[0];
    }
    for (int warp_tile = 0; warp_tile < kTiles; ++warp_tile) {
      for (int lane = 0; lane < 32; ++lane) {
        if (Tile::kLogParts > 0) {
          const unsigned most =
              tensor::largest_of<Tile>(largest_.data(), seat_of<0>(lane, warp_tile).position);
          own[warp_tile][lane] = {{most, most}};
        }
        tensor::scale_in<Tile>(own[warp_tile][lane], all[warp_tile][lane]);
      }
      emulated_transform(matrices_, Tile::kShort, pass_.split, pass_.sign, all[warp_tile]);
      for (int lane = 0; lane < 32; ++lane) {
        const auto seat = seat_of<0>(lane, warp_tile);
        if constexpr (Tile::kLast == 0) {
          leave(seat, own[warp_tile][lane], all[warp_tile][lane]);
        } else {
          send<0>(seat, all[warp_tile][lane]);
        }
      }
    }
    further<1>();
  }

 private:
  template <int kStage>
  static tensor::Seat<Tile, kStage> seat_of(int lane, int warp_tile) {
    const int turns = Tile::turns(kStage);
    return {lane, warp_tile & -turns, warp_tile & (turns - 1)};
  }
  template <int kStage>
  void further() {
    if constexpr (kStage <= Tile::kLast) {
      for (int warp_tile = 0; warp_tile < 1 << Tile::log_warp_tiles(kStage); ++warp_tile) {
        WarpPoints<Tile::slots(kStage)> points;
        for (int lane = 0; lane < 32; ++lane)
          tensor::load_shared<Tile, kStage>(seat_of<kStage>(lane, warp_tile), shared_.data(), points[lane]);
        emulated_transform(matrices_, false, pass_.split, pass_.sign, points);
        for (int lane = 0; lane < 32; ++lane) {
          const auto seat = seat_of<kStage>(lane, warp_tile);
          if constexpr (kStage < Tile::kLast) {
            send<kStage>(seat, points[lane]);
          } else {
            leave(seat,
                  {{tensor::largest_of<Tile>(largest_.data(), seat.position),
                    tensor::largest_of<Tile>(largest_.data(), seat.position | seat.column_offset(1))}},
                  points[lane]);
          }
        }
      }
      further<kStage + 1>();
    }
  }
  template <int kStage>
  void send(const tensor::Seat<Tile, kStage>& seat, tensor::LanePoints<Tile::slots(kStage)>& points) {
    tensor::twiddle<Tile, kStage>(
        tensor::load_twiddles<Tile, kStage>(pass_.tables.twiddles, seat.lane, seat.warp_tile), points);
    tensor::store_shared<Tile, kStage>(seat, points, shared_.data());
  }
  void leave(const tensor::LastSeat<Tile>& seat, const tensor::LaneLargest& largest,
             tensor::LastPoints<Tile>& points) {
    tensor::scale_out<Tile>(largest, pass_.factor, points);
    tensor::twiddle_pass<Tile>(pass_, base_, seat, points);
    pass_.wide ? tensor::store_results<Tile, true>(pass_, base_, seat, points)
               : tensor::store_results<Tile, false>(pass_, base_, seat, points);
  }

  const tensor::Pass& pass_;
  tensor::TileBase base_;
  EmulatedMatrices matrices_;
  std::vector<tensor::Point> shared_;
  std::vector<unsigned> largest_;
};

/// The products of constant matrices with the points of a warp's line: results [lane][v] of operands.
class EmulatedLineProduct {
 public:
  explicit EmulatedLineProduct(const unsigned* table) {
    for (int lane = 0; lane < 32; ++lane) {
      const tensor::LineMatrices own = tensor::line_matrices_of(table, lane);
      for (int product = 0; product < 2; ++product) {
        for (int i = 0; i < 4; ++i) {
          const int row = (lane >> 2) + 8 * (i & 1), k = 2 * (lane & 3) + 8 * (i >> 1);
          for (const bool low : {false, true}) {
            const unsigned both = (low ? own.lo : own.hi)[product].at[i];
            matrix_[product][low][row][k] = tensor::lower_half(both);
            matrix_[product][low][row][k + 1] = tensor::upper_half(both);
          }
        }
      }
    }
  }
  void run(int product, bool split, const std::array<tensor::LineOperand, 32>& operands,
           tensor::Point (&results)[32][2]) const {
    float sums[16][8] = {};
    if (split) add(matrix_[product][0], operands, true, sums);
    if (split) add(matrix_[product][1], operands, false, sums);
    add(matrix_[product][0], operands, false, sums);
    for (int lane = 0; lane < 32; ++lane) {
      for (int v = 0; v < 2; ++v) {
        const int column = 2 * (lane & 3) + v;
        results[lane][v] = {sums[lane >> 2][column], sums[(lane >> 2) + 8][column]};
      }
    }
  }

 private:
  static void add(const double (&matrix)[16][16], const std::array<tensor::LineOperand, 32>& operands,
                  bool low, float (&sums)[16][8]) {
    double columns[8][16];
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 2; ++i) {
        const unsigned both = (low ? operands[lane].lo : operands[lane].hi)[i];
        const int k = 2 * (lane & 3) + 8 * i;
        columns[lane >> 2][k] = tensor::lower_half(both);
        columns[lane >> 2][k + 1] = tensor::upper_half(both);
      }
    }
    for (int row = 0; row < 16; ++row) {
      for (int column = 0; column < 8; ++column) {
        double sum = static_cast<double>(sums[row][column]), largest = std::fabs(sum);
        for (int k = 0; k < 16; ++k) {
          const double product = matrix[row][k] * columns[column][k];
          sum += product;
          largest = std::max(largest, std::fabs(product));
        }
        sums[row][column] = truncated_sum(sum, largest);
      }
    }
  }

  double matrix_[2][2][16][16];
};

template <int kLog, int kLogLines, tensor::TileKind kKind>
class EmulatedBlock<tensor::WarpTile<kLog, kLogLines, kKind>> {
  using Tile = tensor::WarpTile<kLog, kLogLines, kKind>;
  using Line = tensor::LinePoints<Tile::kSlots>;

 public:
  EmulatedBlock(const tensor::Pass& pass, std::int64_t tile)
      : pass_(pass),
        base_(tensor::base_of<Tile>(pass, tile)),
        product_(pass.tables.line_matrices),
        twiddles_(pass.tables.twiddles + (Tile::kJoined ? tensor::JoinStage<Tile>::kTwiddles : 0)),
        shared_(std::size_t{1} << Tile::kBits) {}

  void run() {
    if constexpr (Tile::kDirect) {
      for (int i = 0; i < std::min(base_.lines, 1 << kLogLines); ++i) direct(i);
      return;
    }
    for (unsigned position = 0; position < 1u << Tile::kBits; ++position) {
      shared_[tensor::swizzled<Tile>(position)] =
          tensor::has_line<Tile>(base_, position)
              ? pass_.from[base_.from + tensor::place_of<Tile>(pass_, position)]
              : tensor::Point{0, 0};
    }
    int exponent = 0;
    if constexpr (Tile::kJoined) exponent = across_rows();
    for (unsigned line = 0; line < 1u << kLogLines; line += Tile::kTogether) {
      std::vector<std::array<Line, 32>> lines(Tile::kTogether);
      for (int lane = 0; lane < 32; ++lane) {
        Line own[Tile::kTogether];
        tensor::load_lines<Tile>(shared_.data(), line, lane, own);
        for (int i = 0; i < Tile::kTogether; ++i) lines[i][lane] = own[i];
      }
      for (int i = 0; i < Tile::kTogether; ++i) transform(lines[i], base_.first_line + line + i, exponent);
      for (int lane = 0; lane < 32; ++lane) {
        Line own[Tile::kTogether];
        for (int i = 0; i < Tile::kTogether; ++i) own[i] = lines[i][lane];
        tensor::store_lines<Tile>(own, line, lane, shared_.data());
      }
    }
    for (int thread = 0; thread < Tile::kThreads; ++thread) {
      pass_.wide ? tensor::carry_out<Tile, true>(pass_, base_, shared_.data(), thread)
                 : tensor::carry_out<Tile, false>(pass_, base_, shared_.data(), thread);
    }
  }

 private:
  void direct(int number) const {
    const std::int64_t place = std::int64_t{number} << kLog;
    const tensor::Point* const from = pass_.from + base_.from + place;
    tensor::Point* const to = pass_.to + base_.to + place;
    std::array<Line, 32> line;
    for (int lane = 0; lane < 32; ++lane) {
      pass_.wide ? tensor::load_line<Tile, true>(from, lane, line[lane])
                 : tensor::load_line<Tile, false>(from, lane, line[lane]);
    }
    transform(line, 0, 0);
    for (int lane = 0; lane < 32; ++lane) {
      pass_.wide ? tensor::store_line<Tile, true>(line[lane], lane, to)
                 : tensor::store_line<Tile, false>(line[lane], lane, to);
    }
  }
  static void join(tensor::Point& a, tensor::Point& b) {
    const tensor::Point first = a;
    a = tensor::sum(first, b);
    b = tensor::difference(first, b);
  }

  int across_rows() {
    using Stage = tensor::JoinStage<Tile>;
    constexpr int kTiles = 1 << Stage::log_warp_tiles(0), kSlots = Stage::slots(0);
    const EmulatedMatrices matrices(pass_.tables.matrices);
    std::vector<WarpPoints<kSlots>> points(kTiles);
    unsigned largest = 0;
    for (int warp_tile = 0; warp_tile < kTiles; ++warp_tile) {
      for (int lane = 0; lane < 32; ++lane) {
        auto& own = points[warp_tile][lane];
        tensor::load_shared<Stage, 0>(tensor::Seat<Stage, 0>(lane, warp_tile), shared_.data(), own);
        largest = std::max(largest, tensor::own_largest<Stage>(own).at[0]);
      }
    }
    const tensor::Scale scale = tensor::entry_scale(largest);
    for (int warp_tile = 0; warp_tile < kTiles; ++warp_tile) {
      for (auto& own : points[warp_tile]) tensor::scale_columns<false>(scale, scale, own);
      emulated_transform(matrices, false, pass_.split, pass_.sign, points[warp_tile]);
      for (int lane = 0; lane < 32; ++lane) {
        auto& own = points[warp_tile][lane];
        tensor::twiddle<Stage, 0>(tensor::load_twiddles<Stage, 0>(pass_.tables.twiddles, lane, warp_tile),
                                  own);
        tensor::store_shared<Stage, 0>(tensor::Seat<Stage, 0>(lane, warp_tile), own, shared_.data());
      }
    }
    return tensor::scale_exponent(largest) - kLogLines;
  }

  void transform(std::array<Line, 32>& line, unsigned number, int exponent) const {
    constexpr int kProducts = Tile::kProducts, kInner = Tile::kInner, kOuter = Tile::kOuter;
    unsigned largest = 0;
    for (const Line& own : line) largest = std::max(largest, tensor::largest_bits<Tile>(own.at));
    for (Line& own : line) tensor::scale_all(own.at, tensor::entry_scale(largest));
    std::array<Line, 32> results;
    for (int j = 0; j < Tile::kRadix; ++j) {
      tensor::Point between[2][kProducts][32][2];  // [q][h][lane][v]
      std::array<tensor::LineOperand, 32> operands;
      for (int q = 0; q < 2; ++q) {
        for (int a = 0; a < kProducts; ++a) {
          const int slot = j | (q | a << 1) << kOuter;
          for (int lane = 0; lane < 32; ++lane)
            operands[lane] =
                tensor::line_operand_of(line[lane].at[slot], line[lane].at[slot | 2 * kProducts << kOuter]);
          product_.run(a, pass_.split, operands, between[q][a]);
        }
        for (int lane = 0; lane < 32; ++lane) {
          const tensor::InnerTwiddles<Tile> inner = tensor::inner_twiddles_of<Tile>(twiddles_, lane);
          for (int v = 0; v < 2; ++v) {
            if (kProducts == 2) join(between[q][0][lane][v], between[q][kProducts - 1][lane][v]);
            for (int h = 0; h < kProducts; ++h) {
              const tensor::PointPair& factors = inner.at[q * kProducts + h];
              between[q][h][lane][v] =
                  tensor::times(between[q][h][lane][v], v == 0 ? factors.first : factors.second);
            }
          }
        }
      }
      for (int h = 0; h < kProducts; ++h) {
        tensor::Point both[2][32][2];
        for (int q = 0; q < 2; ++q) {
          for (int lane = 0; lane < 32; ++lane)
            operands[lane] = tensor::line_operand_of(between[q][h][lane][0], between[q][h][lane][1]);
          product_.run(q, pass_.split, operands, both[q]);
        }
        for (int lane = 0; lane < 32; ++lane) {
          for (int v = 0; v < 2; ++v) {
            join(both[0][lane][v], both[1][lane][v]);
            results[lane].at[j * kInner + 2 * h + v] = both[0][lane][v];
            results[lane].at[j * kInner + 2 * (kProducts + h) + v] = both[1][lane][v];
          }
        }
      }
    }
    line = results;
    for (int lane = 0; lane < 32; ++lane) {
      tensor::join_lines<Tile>(twiddles_ + 32 * kInner, lane, pass_.sign, line[lane]);
      tensor::scale_all(
          line[lane].at,
          tensor::scale_of(Tile::kFirst - tensor::scale_exponent(largest) - exponent, pass_.factor));
      if (!Tile::kColumns || pass_.log_order == 0) continue;
      const tensor::Point own = tensor::pass_factor_of_lane<Tile>(pass_, number, lane);
      for (int slot = 0; slot < Tile::kSlots; ++slot) {
        const tensor::Point step = tensor::pass_factor_of_slot<Tile>(pass_, number, slot);
        line[lane].at[slot] = tensor::times(line[lane].at[slot], slot == 0 ? own : tensor::times(own, step));
      }
    }
  }

  const tensor::Pass& pass_;
  tensor::TileBase base_;
  EmulatedLineProduct product_;
  const tensor::Point* twiddles_;
  std::vector<tensor::Point> shared_;
};

/// Tables of a tile and a direction, on the host.
struct HostTables {
  HostTables(const tensor::PlannedPass& pass, int sign)
      : matrices(tensor::matrix_table(tensor::matrix_kind(pass.tile), sign)),
        line_matrices(tensor::line_matrix_table(sign)) {
    tensor::with_tile(pass.tile, [&](auto tile) { twiddles = tensor::twiddle_table(tile, sign); });
  }
  tensor::Tables get() const { return {matrices.data(), line_matrices.data(), twiddles.data()}; }
  std::vector<unsigned> matrices, line_matrices;
  std::vector<tensor::Point> twiddles;
};

struct EmulatedOptions {
  int sign = -1;
  float factor = 1;
  bool split = true;
  bool wide = true;  ///< pairs at once, where arrays are aligned to them
  std::int64_t few = tensor::kFewPoints;
};

/// A batch of transforms of 2^logs points, slowest dimension first; out of place.
inline std::vector<std::complex<float>> emulated_tensor_fft(const std::vector<std::complex<float>>& signals,
                                                            const std::vector<int>& logs,
                                                            const EmulatedOptions& options = {}) {
  int log = 0;
  for (const int one : logs) log += one;
  const std::vector<tensor::PlannedPass> passes =
      tensor::planned_passes(logs, {static_cast<std::int64_t>(signals.size() >> log), options.few});
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
    tensor::with_tile(passes[i].tile, [&](auto tile) {
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
