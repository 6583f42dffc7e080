// SPDX-License-Identifier: Apache-2.0
// Tests where the lanes of tensor kernels read and write: every point once, shared memory without bank
// conflicts, whole lines of the cache in global memory. Counts what a GPU would do: accesses of 16 bytes by
// eight lanes at a time, of which those are served together that are in different banks; lines of 128 bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "kernels/base/tensor/passes.hpp"
#include "kernels/base/tensor/results.hpp"

namespace sfft::test {
namespace {

namespace tensor = detail::tensor;
using tensor::TileKind;

constexpr unsigned kBanks = 8;  ///< of 16 bytes
constexpr int kLaneGroup = 8;   ///< lanes that access 16 bytes each at once
constexpr unsigned kLine = 16;  ///< points of a line of the cache
constexpr int kGroups = 32 / kLaneGroup;

/// How often a warp's access of 16 bytes per lane takes a turn, given the first point of every lane.
int turns_of(const std::vector<unsigned>& points) {
  int turns = 0;
  for (int first = 0; first < 32; first += kLaneGroup) {
    std::set<unsigned> at_bank[kBanks];
    for (int lane = first; lane < first + kLaneGroup; ++lane)
      at_bank[points[lane] / 2 % kBanks].insert(points[lane]);
    std::size_t most = 0;
    for (const auto& bank : at_bank) most = std::max(most, bank.size());
    turns += static_cast<int>(most);
  }
  return turns;
}

template <class Tile>
std::string name() {
  return "2^" + std::to_string(Tile::kLog) + ", kind " + std::to_string(static_cast<int>(Tile::kKind));
}

/// Calls check(points of all lanes) for accesses of a warp to pairs, where of(lane) is a lane's.
template <class Of>
void expect_no_conflicts(const char* what, const std::string& tile, const Of& of) {
  std::vector<unsigned> points;
  for (int lane = 0; lane < 32; ++lane) points.push_back(of(lane));
  EXPECT_EQ(turns_of(points), kGroups) << what << " of " << tile;
}

template <class Tile, int kStage>
void expect_stages() {
  using Seat = tensor::Seat<Tile, kStage>;
  std::set<unsigned> seen, words;
  for (int warp_tile = 0; warp_tile < Tile::kWarpTiles; ++warp_tile) {
    for (int slot = 0; slot < tensor::kSlots; ++slot) {
      for (int column = 0; column < 2; ++column) {
        for (int lane = 0; lane < 32; ++lane) {
          const unsigned position =
              Seat(lane, warp_tile).position | Seat::row_offset(slot) | Seat::column_offset(column);
          seen.insert(position);
          words.insert(tensor::swizzled(position));
        }
      }
      // Pairs are of rows, and there are two columns of them, or of columns.
      const bool rows = Tile::pairs_of_rows(kStage);
      const unsigned other =
          rows ? Seat::column_offset(slot >> 1) | Seat::row_offset(2 * (slot & 1)) : Seat::row_offset(slot);
      expect_no_conflicts("a stage", name<Tile>() + " stage " + std::to_string(kStage), [&](int lane) {
        return Seat(lane, warp_tile).in_shared ^ tensor::swizzled(other);
      });
    }
  }
  EXPECT_EQ(seen.size(), std::size_t{1} << Tile::kBits);
  EXPECT_EQ(words.size(), seen.size());
  EXPECT_EQ(*words.rbegin(), (1u << Tile::kBits) - 1);
  if constexpr (kStage + 1 < Tile::kStages) expect_stages<Tile, kStage + 1>();
}

/// Results go to shared memory and come back, pairs in either direction, with the place of a point's number
/// in shared memory in it.
template <class Tile>
void expect_exchange() {
  constexpr int kLast = Tile::kStages - 1;
  std::vector<tensor::Point> shared(std::size_t{1} << Tile::kBits, {-1, -1});
  for (int warp_tile = 0; warp_tile < Tile::kWarpTiles; ++warp_tile) {
    std::set<unsigned> own, filled;
    for (int lane = 0; lane < 32; ++lane) {
      const tensor::Seat<Tile, kLast> seat(lane, warp_tile);
      tensor::LanePoints points;
      for (int column = 0; column < 2; ++column) {
        for (int slot = 0; slot < tensor::kSlots; ++slot) {
          const unsigned position = seat.position | seat.row_offset(slot) | seat.column_offset(column);
          own.insert(tensor::swizzled(position));
          points.at[column][slot] = {static_cast<float>(position), 0};
        }
      }
      std::vector<tensor::Point> before = shared;
      tensor::store_results<Tile>(seat, points, shared.data());
      for (unsigned i = 0; i < shared.size(); ++i) {
        if (shared[i].re != before[i].re) filled.insert(i);
      }
    }
    EXPECT_EQ(filled, own) << "a warp tile keeps to its own places: " << name<Tile>();
    if (warp_tile == 1) break;  // the others are shifted
  }
  // Stores of pairs: by columns unless the rows are neighbours.
  for (int slot = 0; slot < tensor::kSlots; ++slot) {
    expect_no_conflicts("results in", name<Tile>(), [&](int lane) {
      std::vector<tensor::Point> probe(std::size_t{1} << Tile::kBits, {-1, -1});
      tensor::LanePoints points{};
      const bool rows = Tile::stores_pairs_of_rows();
      points.at[rows ? slot >> 1 : 0][rows ? 2 * (slot & 1) : slot] = {7, 7};
      tensor::store_results<Tile>(tensor::Seat<Tile, kLast>(lane, 0), points, probe.data());
      const auto at = std::find_if(probe.begin(), probe.end(), [](const auto& p) { return p.re == 7; });
      return static_cast<unsigned>(at - probe.begin());
    });
  }
}

/// What leaves: shared memory has no conflicts, every result goes to its place once, and a warp fills as many
/// lines of the cache as it has bytes for, where lines of the transform lie in such runs.
template <class Tile>
void expect_whole_lines() {
  std::set<std::int64_t> places;
  tensor::Pass pass;
  pass.to_point = std::int64_t{1} << 20;  // far apart
  constexpr bool kBatch = Tile::kKind == TileKind::batch;
  const unsigned run = kBatch ? kLine : std::min(kLine, 1u << Tile::kLogLines);
  for (int i = 0; i < Tile::kUnits; ++i) {
    for (int warp = 0; warp < Tile::kWarps; ++warp) {
      const auto number = [&](int lane) {
        return static_cast<unsigned>(i * Tile::kThreads + 32 * warp + lane);
      };
      expect_no_conflicts("results out", name<Tile>(), [&](int lane) {
        return tensor::swizzled(tensor::result_position<Tile>(number(lane)));
      });
      expect_no_conflicts("samples in", name<Tile>(), [&](int lane) {
        return tensor::swizzled(tensor::unit_position<Tile>(32 * warp + lane, i));
      });
      std::set<std::int64_t> runs;
      for (int lane = 0; lane < 32; ++lane) {
        const unsigned order = tensor::result_order<Tile>(number(lane));
        const std::int64_t place = tensor::result_place<Tile>(pass, order);
        places.insert(place);
        runs.insert(place / run);
        // The pair is of this point and of this place.
        const unsigned position = tensor::result_position<Tile>(number(lane));
        EXPECT_EQ(position & 1u, 0u);
        EXPECT_EQ(order & 1u, 0u);
      }
      EXPECT_EQ(runs.size(), 64 / run) << "lines of the cache that a warp writes, " << name<Tile>();
    }
  }
  EXPECT_EQ(places.size(), std::size_t{1} << (Tile::kBits - 1));
}

template <class Use>
void with_every_tile(const Use& use) {
  for (const auto kind : {TileKind::batch, TileKind::columns, TileKind::rows}) {
    for (int log = tensor::kLeastLog; log <= tensor::kMostBatchLog; ++log) tensor::with_tile(kind, log, use);
  }
}

TEST(TensorLayout, StagesHaveNoBankConflicts) {
  with_every_tile([](auto tile) { expect_stages<decltype(tile), 0>(); });
}
TEST(TensorLayout, ResultsStayInTheirWarpTileWithoutBankConflicts) {
  with_every_tile([](auto tile) { expect_exchange<decltype(tile)>(); });
}
TEST(TensorLayout, ResultsLeaveInWholeLines) {
  with_every_tile([](auto tile) { expect_whole_lines<decltype(tile)>(); });
}

/// Eight lanes that store together, too, fill whole lines or runs, but for the lengths where banks do not
/// allow it.
TEST(TensorLayout, EightLanesFillOneLine) {
  std::string halves;
  with_every_tile([&](auto tile) {
    using Tile = decltype(tile);
    tensor::Pass pass;
    pass.to_point = std::int64_t{1} << 20;
    std::set<std::int64_t> lines;
    for (unsigned number = 0; number < kLaneGroup; ++number)
      lines.insert(tensor::result_place<Tile>(pass, tensor::result_order<Tile>(number)) / kLine);
    EXPECT_LE(lines.size(), 2u) << name<Tile>();
    if (lines.size() > 1) halves += name<Tile>() + "; ";
  });
  // Columns and rows of 2^9 and 2^10 points: eight lines side by side have no more.
  EXPECT_EQ(halves, "2^5, kind 0; 2^9, kind 1; 2^10, kind 1; 2^9, kind 2; 2^10, kind 2; ");
}

/// The remainders of x³ … are the powers that Tile::bank() multiplies out.
TEST(TensorLayout, SwizzleIsLinearAndFollowsItsPowers) {
  using Tile = tensor::Tile<13, 0, TileKind::batch>;
  for (int bit = 0; bit < 13; ++bit) {
    const unsigned position = 1u << bit, flips = bit < 4 ? 0u : static_cast<unsigned>(Tile::bank(bit)) << 1;
    EXPECT_EQ(tensor::swizzled(position), position ^ flips) << bit;
  }
  for (unsigned a = 0; a < 1u << 13; a += 37) {
    for (unsigned b = 0; b < 1u << 13; b += 91)
      ASSERT_EQ(tensor::swizzled(a ^ b), tensor::swizzled(a) ^ tensor::swizzled(b));
  }
}

}  // namespace
}  // namespace sfft::test
