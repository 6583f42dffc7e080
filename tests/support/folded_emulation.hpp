// SPDX-License-Identifier: Apache-2.0
// Runs the kernel of folded lines on the CPU: it calls the kernel's lane functions and computes the matrix
// products of tensor cores in software.
#pragma once

#include "kernels/base/tensor/folded_tables.hpp"
#include "tests/support/tensor_block_emulation.hpp"

namespace sfft::test {

struct FoldedOptions {
  int sign = -1;
  float factor = 1;
  bool split = true;
};

template <class Tile>
class EmulatedFoldedTile {
 public:
  EmulatedFoldedTile(const tensor::FoldedPass& pass, bool split, std::int64_t tile)
      : pass_(pass),
        split_(split),
        first_line_(tile * Tile::kLines),
        operands_(Tile::kOperands),
        results_(Tile::kResultBytes / 4, NAN),
        largest_(Tile::kLines) {}

  void run() {
    each_seat([&](const tensor::FoldedSeat<Tile>& seat) {
      auto& largest = largest_[static_cast<std::size_t>(seat.line())];
      largest = std::max(largest, tensor::largest_of_pairs(points_of(seat)));
    });
    each_seat([&](const tensor::FoldedSeat<Tile>& seat) {
      tensor::fold<Tile>(points_of(seat), largest_[static_cast<std::size_t>(seat.line())], seat,
                         operands_.data());
    });
    for (int role = 0; role < Tile::kRoles; ++role) {
      for (int group = 0; group < Tile::kGroups; ++group) {
        for (int part = 0; part < Tile::kParts; ++part) {
          for (int m = 0; m < Tile::kHeight; ++m) multiply(role, group, part, m);
        }
      }
    }
    each_seat([&](const tensor::FoldedSeat<Tile>& seat) {
      if (!has(seat)) return;
      tensor::unfold<Tile>(pass_, largest_[static_cast<std::size_t>(seat.line())], seat,
                           tensor::folded_pairs<Tile>(pass_.points, seat.own), results_.data(),
                           pass_.to + (first_line_ + seat.line()) * pass_.points);
    });
  }

 private:
  bool has(const tensor::FoldedSeat<Tile>& seat) const {
    return seat.holds() && first_line_ + seat.line() < pass_.lines;
  }
  tensor::FoldedPoints points_of(const tensor::FoldedSeat<Tile>& seat) const {
    tensor::FoldedPoints points{};
    if (!has(seat)) return points;
    const tensor::Point* const line = pass_.from + (first_line_ + seat.line()) * pass_.points;
    const auto pairs = tensor::folded_pairs<Tile>(pass_.points, seat.own);
    for (int i = 0; i < Tile::kPairs; ++i) {
      points.first[i] = line[pairs.first[i]];
      points.second[i] = line[pairs.second[i]];
    }
    return points;
  }
  template <class Action>
  static void each_seat(const Action& action) {
    for (int warp = 0; warp < Tile::kWarps; ++warp) {
      for (int round = 0; round < Tile::kRounds; ++round) {
        for (int lane = 0; lane < 32; ++lane) action(tensor::FoldedSeat<Tile>(warp, lane, round));
      }
    }
  }
  /// Returns entry `column` of a row of 16; each lane has four words of it.
  static double entry(const unsigned* words_of_lanes, int row_or_column, int column, bool left) {
    const int lane = 4 * (row_or_column & 7) + (column % 8) / 2;
    const int word = left ? (row_or_column >> 3) + 2 * (column / 8) : column / 8;
    const unsigned both = words_of_lanes[4 * lane + word];
    return column % 2 == 0 ? tensor::lower_half(both) : tensor::upper_half(both);
  }
  void multiply(int role, int group, int part, int m) {
    const int type = role % Tile::kTypes, strip = role / Tile::kTypes;
    float large[16][8] = {}, small[16][8] = {};
    for (int tile = 0; tile < Tile::kTiles; ++tile) {
      const unsigned* const hi =
          pass_.matrices + ((role * Tile::kHeight + m) * Tile::kTiles + tile) * 2 * 128;
      std::vector<unsigned> right(128);
      for (int lane = 0; lane < 32; ++lane) {
        const auto& words = operands_[static_cast<std::size_t>(
            tensor::operand_place<Tile>(type, part, group, tile, lane / 4, lane % 4))];
        std::copy(words.at, words.at + 4, right.begin() + 4 * lane);
      }
      add(hi, right.data(), large);
      if (split_) add(hi, right.data() + 2, small);
      if (split_) add(hi + 128, right.data(), small);
    }
    for (int row = 0; row < 16; ++row) {
      for (int column = 0; column < 8; ++column) {
        const int line = Tile::kColumns * group + column, k = 16 * (strip * Tile::kHeight + m) + row;
        results_[static_cast<std::size_t>(tensor::result_plane<Tile>(type, part) + line * Tile::kPitch + k)] =
            large[row][column] + small[row][column];
      }
    }
  }
  static void add(const unsigned* left, const unsigned* right, float (&sums)[16][8]) {
    for (int row = 0; row < 16; ++row) {
      for (int column = 0; column < 8; ++column) {
        double sum = static_cast<double>(sums[row][column]), largest = std::fabs(sum);
        for (int k = 0; k < 16; ++k) {
          const double product = entry(left, row, k, true) * entry(right, column, k, false);
          sum += product;
          largest = std::max(largest, std::fabs(product));
        }
        sums[row][column] = truncated_sum(sum, largest);
      }
    }
  }

  const tensor::FoldedPass& pass_;
  bool split_;
  std::int64_t first_line_;
  std::vector<tensor::FoldedOperand> operands_;
  std::vector<float> results_;
  std::vector<unsigned> largest_;
};

/// Transforms a batch of lines of `points` points.
inline std::vector<std::complex<float>> emulated_folded_fft(const std::vector<std::complex<float>>& signals,
                                                            int points, const FoldedOptions& options = {}) {
  std::vector<std::complex<float>> result(signals.size(), {NAN, NAN});
  tensor::FoldedPass pass;
  pass.from = reinterpret_cast<const tensor::Point*>(signals.data());
  pass.to = reinterpret_cast<tensor::Point*>(result.data());
  pass.points = points;
  pass.lines = static_cast<std::int64_t>(signals.size()) / points;
  pass.sign = static_cast<float>(options.sign);
  pass.factor = options.factor;
  tensor::with_folded_tile(points, [&](auto type) {
    using Tile = decltype(type);
    const std::vector<unsigned> matrices = tensor::folded_table<Tile>(points);
    pass.matrices = matrices.data();
    for (std::int64_t tile = 0; tile * Tile::kLines < pass.lines; ++tile)
      EmulatedFoldedTile<Tile>(pass, options.split, tile).run();
  });
  return result;
}

}  // namespace sfft::test
