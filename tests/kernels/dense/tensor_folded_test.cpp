// SPDX-License-Identifier: Apache-2.0
// Tests folded lines of the engine tensor without a GPU: the kernel's lane functions with emulated matrix
// products against transforms in double at every length, scales, and the positions of operands.
#include <gtest/gtest.h>

#include <set>

#include "tests/support/folded_emulation.hpp"
#include "tests/support/tensor_checks.hpp"

namespace sfft::test::tensor_folded_test {
namespace {

TEST(TensorFolded, EveryLengthAgainstDouble) {
  double max = 0;
  int lengths = 0;
  for (int points = tensor::kMinFolded; points <= tensor::kMaxFolded; ++points) {
    if (!tensor::is_folded(points)) continue;
    ++lengths;
    const Values x = uniform_noise(static_cast<std::size_t>(5 * points), static_cast<unsigned>(points));
    const double error = relative_l2(emulated_folded_fft(x, points), exact_spectra(x, Shape{points}));
    EXPECT_LE(error, kTensorBound) << points;
    max = std::max(max, error);
  }
  RecordProperty("largest error", std::to_string(max));
  EXPECT_EQ(lengths, 35 - 1);  // primes of 47 to 227, without 127
}

TEST(TensorFolded, InverseAndFactor) {
  for (const int points : {47, 83, 149, 227}) {
    const Values x = uniform_noise(static_cast<std::size_t>(3 * points), 2);
    Exact expected = exact_spectra(x, Shape{points}, true);
    for (auto& value : expected) value *= 0.375;
    EXPECT_LE(relative_l2(emulated_folded_fft(x, points, {1, 0.375f}), expected), kTensorBound) << points;
  }
}

TEST(TensorFolded, EveryLineHasItsScale) {
  for (const int points : {59, 107, 223})
    expect_scales_of_lines(points, [&](const Values& x) { return emulated_folded_fft(x, points); });
}

TEST(TensorFolded, NanAndInfinityStayInTheirLine) {
  expect_others_without_trouble(47, [](const Values& x) { return emulated_folded_fft(x, 47); });
}

TEST(TensorFolded, WithoutTheSplitItIsHalfPrecision) {
  const Values x = uniform_noise(4 * 107, 1);
  const double error = relative_l2(emulated_folded_fft(x, 107, {-1, 1, false}), exact_spectra(x, Shape{107}));
  EXPECT_GT(error, 1e-4);
  EXPECT_LE(error, 1e-3);
}

/// Eight lanes that access 16 bytes each, and 32 that access 4 bytes, access every bank once.
TEST(TensorFolded, LanesMeetDifferentBanks) {
  for (int edge = 2; edge <= 8; ++edge) {
    tensor::with_folded_tile(32 * edge - 1, [&](auto type) {
      using Tile = decltype(type);
      ASSERT_EQ(Tile::kTiles, edge);
      std::set<int> places;
      for (int warp = 0; warp < Tile::kWarps; ++warp) {
        for (int round = 0; round < Tile::kRounds; ++round) {
          for (int first = 0; first < 32; first += 8) {
            std::set<int> banks;
            int stored = 0;
            for (int lane = first; lane < first + 8; ++lane) {
              const tensor::FoldedSeat<Tile> seat(warp, lane, round);
              if (!seat.holds()) continue;
              const int place =
                  tensor::operand_place<Tile>(1, 0, seat.group, seat.own / 4, seat.column, seat.own % 4);
              EXPECT_TRUE(places.insert(place).second) << edge;
              banks.insert(place % 8);
              ++stored;
            }
            EXPECT_EQ(static_cast<int>(banks.size()), stored) << edge << " lane " << first;
          }
        }
      }
      EXPECT_EQ(static_cast<int>(places.size()), 32 * Tile::kGroups * Tile::kTiles);
      std::set<int> stores, loads;
      for (int lane = 0; lane < 32; ++lane) {
        stores.insert((2 * (lane & 3) * Tile::kPitch + (lane >> 2)) % 32);
        const tensor::FoldedSeat<Tile> seat(0, lane, 0);
        if (seat.holds()) loads.insert((seat.line() * Tile::kPitch + seat.own) % 32);
      }
      EXPECT_EQ(stores.size(), 32u) << edge;
      EXPECT_EQ(static_cast<int>(loads.size()), Tile::kTogether * Tile::kHolders) << edge;
    });
  }
}

}  // namespace
}  // namespace sfft::test::tensor_folded_test
