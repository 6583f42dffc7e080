// SPDX-License-Identifier: Apache-2.0
// Tests where the lanes of tensor kernels read and write: every point once, shared memory without bank
// conflicts, and whole sectors of global memory. Counts accesses as a GPU does: eight lanes access 16 bytes
// each at a time, accesses to different banks are served together, and sectors have 32 bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "kernels/base/tensor/passes.hpp"
#include "kernels/base/tensor/results.hpp"

namespace sfft::test::tensor_layout_test {
namespace {

namespace tensor = detail::tensor;
using tensor::TileKind;

constexpr unsigned kBanks = 8;  ///< of 16 bytes
constexpr int kLaneGroup = 8;   ///< lanes that access 16 bytes each at once
constexpr int kGroups = 32 / kLaneGroup;
constexpr std::int64_t kSector = 4;  ///< points

/// The number of turns that a warp's access of 16 bytes per lane takes, given the first point of every lane.
int turns_of(const std::vector<unsigned>& points) {
  int turns = 0;
  for (int first = 0; first < 32; first += kLaneGroup) {
    std::set<unsigned> at_bank[kBanks];
    for (int lane = first; lane < first + kLaneGroup; ++lane)
      at_bank[points[lane] / 2 % kBanks].insert(points[lane]);
    std::size_t max = 0;
    for (const auto& bank : at_bank) max = std::max(max, bank.size());
    turns += static_cast<int>(max);
  }
  return turns;
}

template <class Tile>
std::string name() {
  return "2^" + std::to_string(Tile::kLog) + " by 2^" + std::to_string(Tile::kLogLines) + ", kind " +
         std::to_string(static_cast<int>(Tile::kKind));
}

/// Counts the turns of a warp's accesses to pairs; of(lane) is a lane's first point.
template <class Of>
void expect_no_conflicts(const std::string& what, const Of& of) {
  std::vector<unsigned> points;
  for (unsigned lane = 0; lane < 32; ++lane) points.push_back(of(static_cast<int>(lane)));
  EXPECT_EQ(turns_of(points), kGroups) << what;
}

/// A pass whose rows and columns are far apart.
tensor::Pass far_apart() {
  tensor::Pass pass;
  pass.from_line = pass.point = std::int64_t{1} << 20;
  return pass;
}

/// Records what a tile reads or writes in global memory. It must access every place once, and each group of
/// eight lanes whole sectors. At most two groups may share a sector: lines of 8 bytes are halves of what
/// others read.
class Places {
 public:
  void access(const std::vector<std::int64_t>& of_lanes) {
    for (int first = 0; first < 32; first += kLaneGroup) {
      std::set<std::int64_t> sectors;
      for (int lane = first; lane < first + kLaneGroup; ++lane) {
        sectors.insert(of_lanes[lane] / kSector);
        all_.insert(of_lanes[lane]);
        all_.insert(of_lanes[lane] + 1);
      }
      ++accesses_;
      sectors_ += sectors.size();
    }
  }
  void expect(std::size_t points, const std::string& what) const {
    EXPECT_EQ(all_.size(), points) << what;
    EXPECT_EQ(accesses_, points / 16) << what;
    // Eight lanes access four sectors.
    EXPECT_LE(static_cast<double>(sectors_), 4.0 * static_cast<double>(accesses_) * allowed_) << what;
  }
  void allow(double times) { allowed_ = times; }

 private:
  std::set<std::int64_t> all_;
  std::size_t accesses_ = 0, sectors_ = 0;
  double allowed_ = 1;
};

template <class Tile, int kStage>
void expect_stages() {
  using Seat = tensor::Seat<Tile, kStage>;
  std::set<unsigned> seen, words;
  const std::string what = name<Tile>() + " stage " + std::to_string(kStage);
  for (int warp_tile = 0; warp_tile < 1 << Tile::log_warp_tiles(kStage); ++warp_tile) {
    for (int slot = 0; slot < Tile::slots(kStage); ++slot) {
      for (int column = 0; column < 2; ++column) {
        for (int lane = 0; lane < 32; ++lane) {
          const unsigned position =
              Seat(lane, warp_tile).position | Seat::row_offset(slot) | Seat::column_offset(column);
          seen.insert(position);
          words.insert(tensor::swizzled<Tile>(position));
        }
      }
      if (Tile::kStages == 1) continue;
      // Pairs consist of rows, with two columns of pairs, or of columns.
      const bool rows = Tile::pairs_of_rows(kStage);
      const unsigned other =
          rows ? Seat::column_offset(slot & 1) | Seat::row_offset(slot & ~1) : Seat::row_offset(slot);
      expect_no_conflicts(
          what, [&](int lane) { return Seat(lane, warp_tile).in_shared ^ tensor::swizzled<Tile>(other); });
    }
  }
  EXPECT_EQ(seen.size(), std::size_t{1} << Tile::kBits) << what;
  EXPECT_EQ(words.size(), seen.size()) << what;
  EXPECT_EQ(*words.rbegin(), (1u << Tile::kBits) - 1) << what;
  if constexpr (kStage < Tile::kLast) expect_stages<Tile, kStage + 1>();
}

template <class Tile>
void expect_memory() {
  const tensor::Pass pass = far_apart();
  Places in, out;
  std::vector<std::int64_t> places(32);
  using First = tensor::Seat<Tile, 0>;
  for (int warp_tile = 0; warp_tile < 1 << Tile::log_warp_tiles(0); ++warp_tile) {
    for (int i = 0; i < Tile::slots(0); ++i) {
      const bool rows = Tile::pairs_of_rows(0);
      const unsigned other =
          rows ? First::column_offset(i & 1) | First::row_offset(i & ~1) : First::row_offset(i);
      for (int lane = 0; lane < 32; ++lane)
        places[lane] = tensor::place_of<Tile>(pass, First(lane, warp_tile).position | other);
      in.access(places);
    }
  }
  using Last = tensor::LastSeat<Tile>;
  for (int warp_tile = 0; warp_tile < 1 << Tile::log_warp_tiles(Tile::kLast); ++warp_tile) {
    for (int i = 0; i < Tile::slots(Tile::kLast); ++i) {
      const bool rows = Tile::kStoresPairsOfRows;
      const unsigned other =
          rows ? Last::column_offset(i & 1) | Last::row_offset(i >> 1) : Last::row_offset(i);
      for (int lane = 0; lane < 32; ++lane) {
        places[lane] = tensor::result_place<Tile>(pass, Last(lane, warp_tile).position | other);
      }
      out.access(places);
    }
  }
  // A single stage of 16 or 32 points reads its rows in several accesses to the same sectors.
  if (Tile::kStages == 1 && Tile::kKind == TileKind::batch) in.allow(2);
  in.expect(std::size_t{1} << Tile::kBits, "samples of " + name<Tile>());
  out.expect(std::size_t{1} << Tile::kBits, "results of " + name<Tile>());
}

TEST(TensorLayout, SharedMemoryHasNoConflictsAndGlobalMemoryWholeSectors) {
  std::vector<tensor::TileChoice> choices{{TileKind::rows, tensor::kRowLog, true}};
  for (int log = tensor::kMinLongLog; log <= tensor::kMaxLongLog; ++log)
    choices.push_back({TileKind::columns, log - tensor::kRowLog, true});
  for (int log = tensor::kMinLog; log <= tensor::kMaxShortLog; ++log) {
    for (const bool small : {false, true}) choices.push_back({TileKind::batch, log, small});
  }
  int tiles = 0;
  for (const tensor::TileChoice& choice : choices) {
    tensor::with_tile(choice, [&](auto tile) {
      using Tile = decltype(tile);
      expect_stages<Tile, 0>();
      expect_memory<Tile>();
      ++tiles;
    });
  }
  EXPECT_EQ(tiles, 14);
}

/// The place in shared memory is a linear function of the position's bits.
TEST(TensorLayout, SwizzleIsLinear) {
  using Tile = tensor::Tile<8, 2, TileKind::columns, true>;
  for (unsigned a = 0; a < 1u << Tile::kBits; a += 7) {
    for (unsigned b = 0; b < 1u << Tile::kBits; b += 13)
      ASSERT_EQ(tensor::swizzled<Tile>(a ^ b), tensor::swizzled<Tile>(a) ^ tensor::swizzled<Tile>(b));
  }
}

}  // namespace
}  // namespace sfft::test::tensor_layout_test
