// SPDX-License-Identifier: Apache-2.0
// Runs tiles in which a warp transforms each line, as tensor_block_emulation.hpp does for other tiles.
#pragma once

#include "tests/support/tensor_block_emulation.hpp"

namespace sfft::test {

/// Multiplies constant matrices with the points of a warp's line. Results are indexed [lane][v].
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

/// Transforms lines of a warp.
template <class Tile>
class EmulatedWarp {
 public:
  /// The points of all lanes.
  using Line = std::array<tensor::LinePoints<Tile::kSlots>, 32>;

  explicit EmulatedWarp(const tensor::Pass& pass)
      : pass_(pass), product_(pass.tables.matrices), twiddles_(pass.tables.twiddles) {}

  /// A line that is scaled by its own largest part.
  void run(Line& line, unsigned number) const {
    unsigned largest = 0;
    for (const auto& own : line) largest = std::max(largest, tensor::largest_bits<Tile>(own.at));
    for (auto& own : line) tensor::scale_all(own.at, tensor::entry_scale(largest));
    transform(line, tensor::scale_of(Tile::kFirst - tensor::scale_exponent(largest), pass_.factor), number);
  }
  /// `out` scales the results.
  void transform(Line& line, const tensor::Scale& out, unsigned number) const {
    constexpr int kProducts = Tile::kProducts, kInner = Tile::kInner, kOuter = Tile::kOuter, kQs = Tile::kQs;
    Line results;
    for (int j = 0; j < Tile::kRadix; ++j) {
      tensor::Point between[kQs][kProducts][32][2];  // [q][h][lane][v]
      std::array<tensor::LineOperand, 32> operands;
      for (int q = 0; q < kQs; ++q) {
        for (int a = 0; a < kProducts; ++a) {
          const int slot = j | (q | a << Tile::kQBits) << kOuter;
          for (int lane = 0; lane < 32; ++lane)
            operands[lane] =
                tensor::line_operand_of(line[lane].at[slot], line[lane].at[slot | kQs * kProducts << kOuter]);
          product_.run(a, pass_.split, operands, between[q][a]);
        }
        for (int lane = 0; lane < 32; ++lane) {
          const tensor::InnerTwiddles<Tile> inner = tensor::inner_twiddles_of<Tile>(twiddles_, lane);
          for (int v = 0; v < 2; ++v) {
            if (kProducts == 2) tensor::butterfly(between[q][0][lane][v], between[q][kProducts - 1][lane][v]);
            for (int h = 0; h < kProducts; ++h) {
              const tensor::PointPair& factors = inner.at[q * kProducts + h];
              between[q][h][lane][v] =
                  tensor::times(between[q][h][lane][v], v == 0 ? factors.first : factors.second);
            }
          }
        }
      }
      for (int h = 0; h < kProducts; ++h) {
        tensor::Point both[kQs][32][2];
        for (int q = 0; q < kQs; ++q) {
          for (int lane = 0; lane < 32; ++lane)
            operands[lane] = tensor::line_operand_of(between[q][h][lane][0], between[q][h][lane][1]);
          product_.run(q, pass_.split, operands, both[q]);
        }
        for (int lane = 0; lane < 32; ++lane) {
          for (int v = 0; v < 2; ++v) {
            if constexpr (kQs == 2) {
              tensor::butterfly(both[0][lane][v], both[1][lane][v]);
              results[lane].at[j * kInner + 2 * (kProducts + h) + v] = both[1][lane][v];
            }
            results[lane].at[j * kInner + 2 * h + v] = both[0][lane][v];
          }
        }
      }
    }
    line = results;
    for (int lane = 0; lane < 32; ++lane) {
      tensor::join_lines<Tile>(twiddles_ + 32 * kInner, lane, pass_.sign, line[lane]);
      tensor::scale_all(line[lane].at, out);
      if (!Tile::kColumns || pass_.log_order == 0) continue;
      const tensor::Point own = tensor::pass_factor_of_lane<Tile>(pass_, number, lane);
      for (int slot = 0; slot < Tile::kSlots; ++slot) {
        const tensor::Point step = tensor::pass_factor_of_slot<Tile>(pass_, number, slot);
        line[lane].at[slot] = tensor::times(line[lane].at[slot], slot == 0 ? own : tensor::times(own, step));
      }
    }
  }

 private:
  const tensor::Pass& pass_;
  EmulatedLineProduct product_;
  const tensor::Point* twiddles_;
};

template <int kLog, int kLogLines, tensor::TileKind kKind>
class EmulatedBlock<tensor::WarpTile<kLog, kLogLines, kKind>> {
  using Tile = tensor::WarpTile<kLog, kLogLines, kKind>;
  using Line = typename EmulatedWarp<Tile>::Line;

 public:
  EmulatedBlock(const tensor::Pass& pass, std::int64_t tile)
      : pass_(pass),
        base_(tensor::base_of(pass, tile, kLogLines)),
        warp_(pass),
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
    for (unsigned line = 0; line < 1u << kLogLines; line += Tile::kTogether) {
      std::vector<Line> lines(Tile::kTogether);
      for (int lane = 0; lane < 32; ++lane) {
        tensor::LinePoints<Tile::kSlots> own[Tile::kTogether];
        tensor::load_lines<Tile>(shared_.data(), line, lane, own);
        for (int i = 0; i < Tile::kTogether; ++i) lines[i][lane] = own[i];
      }
      for (int i = 0; i < Tile::kTogether; ++i) warp_.run(lines[i], base_.first_line + line + i);
      for (int lane = 0; lane < 32; ++lane) {
        tensor::LinePoints<Tile::kSlots> own[Tile::kTogether];
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
    Line line;
    for (int lane = 0; lane < 32; ++lane) {
      pass_.wide ? tensor::load_line<Tile, true>(from, lane, line[lane])
                 : tensor::load_line<Tile, false>(from, lane, line[lane]);
    }
    warp_.run(line, 0);
    for (int lane = 0; lane < 32; ++lane) {
      pass_.wide ? tensor::store_line<Tile, true>(line[lane], lane, to)
                 : tensor::store_line<Tile, false>(line[lane], lane, to);
    }
  }

  const tensor::Pass& pass_;
  tensor::TileBase base_;
  EmulatedWarp<Tile> warp_;
  std::vector<tensor::Point> shared_;
};

template <int kLog>
class EmulatedBlock<tensor::JoinedTile<kLog>> {
  using Tile = tensor::JoinedTile<kLog>;
  using Part = typename Tile::Part;

 public:
  EmulatedBlock(const tensor::Pass& pass, std::int64_t tile)
      : pass_(pass), base_(tensor::base_of(pass, tile, 0)), warp_(pass), shared_(std::size_t{1} << kLog) {}

  void run() {
    const tensor::Scale out = separate();
    for (unsigned part = 0; part < Tile::kParts; ++part) {
      typename EmulatedWarp<Part>::Line line;
      tensor::LinePoints<Part::kSlots> own[1];
      for (int lane = 0; lane < 32; ++lane) {
        tensor::load_lines<Part>(shared_.data(), part, lane, own);
        line[lane] = own[0];
      }
      warp_.transform(line, out, 0);
      for (int lane = 0; lane < 32; ++lane) {
        own[0] = line[lane];
        tensor::store_lines<Part>(own, part, lane, shared_.data());
      }
    }
    tensor::Point* const to = pass_.to + base_.to;
    for (int thread = 0; thread < Tile::kThreads; ++thread) {
      pass_.wide ? tensor::carry_joined<Tile, true>(shared_.data(), thread, to)
                 : tensor::carry_joined<Tile, false>(shared_.data(), thread, to);
    }
  }

 private:
  tensor::Scale separate() {
    std::vector<tensor::JoinedPoints<Tile>> points(Tile::kThreads);
    const tensor::Point* const from = pass_.from + base_.from;
    unsigned largest = 0;
    for (int thread = 0; thread < Tile::kThreads; ++thread) {
      pass_.wide ? tensor::load_joined<Tile, true>(from, thread, points[thread])
                 : tensor::load_joined<Tile, false>(from, thread, points[thread]);
      largest = std::max(largest, tensor::largest_of_joined(points[thread]));
    }
    const tensor::JoinedScales scales = tensor::joined_scales<Tile>(largest, pass_.factor);
    for (int thread = 0; thread < Tile::kThreads; ++thread) {
      tensor::scale_joined(scales.in, points[thread]);
      tensor::separate_parts<Tile>(pass_.tables.twiddles, thread, pass_.sign, points[thread]);
      tensor::store_joined<Tile>(points[thread], thread, shared_.data());
    }
    return scales.out;
  }

  const tensor::Pass& pass_;
  tensor::TileBase base_;
  EmulatedWarp<Part> warp_;
  std::vector<tensor::Point> shared_;
};

}  // namespace sfft::test
