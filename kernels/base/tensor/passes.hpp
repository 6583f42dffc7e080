// SPDX-License-Identifier: Apache-2.0
// Which tiles exist, and by which passes a transform is done.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/base/tensor/pass.hpp"
#include "kernels/base/tensor/tile.hpp"

namespace sfft::detail::tensor {

/// Lengths of a transform of one dimension: at most three passes.
constexpr int kLeastLog = 4, kMostLog = 27;
/// The longest line of one pass, in a batch and among others.
constexpr int kMostBatchLog = 13, kMostSideLog = 10, kLeastSideLog = 7;

/// Calls use(Tile<…>{}) with the tile for lines of 2^log points: of 4096 points, or more where a line or
/// eight lines side by side have more.
template <TileKind kKind, int kLog, class Use>
void with_tile_of(const Use& use) {
  constexpr int kSide = kLog < 10 ? 12 - kLog : 3;
  if constexpr (kKind == TileKind::batch) {
    use(Tile<kLog, (kLog < 12 ? 12 - kLog : 0), kKind>{});
  } else {
    use(Tile<kLog, kSide, kKind>{});
  }
}
template <TileKind kKind, int kFirst, int... i, class Use>
void with_tile_among(int log, const Use& use, std::integer_sequence<int, i...>) {
  ((log == kFirst + i ? with_tile_of<kKind, kFirst + i>(use) : void()), ...);
}
template <class Use>
void with_tile(TileKind kind, int log, const Use& use) {
  if (kind == TileKind::batch) {
    with_tile_among<TileKind::batch, kLeastLog>(
        log, use, std::make_integer_sequence<int, kMostBatchLog - kLeastLog + 1>());
  } else if (kind == TileKind::columns) {
    with_tile_among<TileKind::columns, kLeastSideLog>(
        log, use, std::make_integer_sequence<int, kMostSideLog - kLeastSideLog + 1>());
  } else {
    with_tile_among<TileKind::rows, kLeastSideLog>(
        log, use, std::make_integer_sequence<int, kMostSideLog - kLeastSideLog + 1>());
  }
}

/// A pass without its pointers, direction and scale.
struct PlannedPass {
  TileKind kind;
  int log;  ///< of a line
  Pass pass;
};

/// The factors of a length above one pass, as logarithms: nearly equal, the larger first.
inline std::vector<int> factors_of(int log) {
  if (log <= kMostBatchLog) return {log};
  const int count = log <= 2 * kMostSideLog ? 2 : 3;
  std::vector<int> factors;
  for (int i = 0; i < count; ++i) factors.push_back((log + count - 1 - i) / count);
  return factors;
}

inline int lines_log(TileKind kind, int log) {
  int lines = 0;
  with_tile(kind, log, [&](auto tile) { lines = decltype(tile)::kLogLines; });
  return lines;
}

/// Passes of `batch` transforms of 2^log points, contiguous (Bailey 1990): columns with factors between, then
/// rows whose results lie side by side. The first reads the input, the last writes the output, and between
/// them is a workspace.
inline std::vector<PlannedPass> planned_passes(int log, std::int64_t batch) {
  const std::vector<int> factors = factors_of(log);
  const std::int64_t points = std::int64_t{1} << log;
  std::vector<PlannedPass> passes;
  if (factors.size() == 1) {
    PlannedPass only{TileKind::batch, log, {}};
    const int lines = lines_log(TileKind::batch, log);
    only.pass.from_line = only.pass.to_line = points;
    only.pass.from_point = only.pass.to_point = 1;
    only.pass.from_transform = only.pass.to_transform = points << lines;
    only.pass.lines = batch;
    only.pass.tiles = (batch + (std::int64_t{1} << lines) - 1) >> lines;
    passes.push_back(only);
    return passes;
  }
  int left = log;
  for (std::size_t i = 0; i + 1 < factors.size(); ++i) {
    PlannedPass columns{TileKind::columns, factors[i], {}};
    Pass& pass = columns.pass;
    const int lines = lines_log(TileKind::columns, factors[i]), across = left - factors[i];
    pass.from_transform = pass.to_transform = std::int64_t{1} << left;
    pass.from_group = pass.to_group = std::int64_t{1} << lines;
    pass.from_line = pass.to_line = 1;
    pass.from_point = pass.to_point = std::int64_t{1} << across;
    pass.log_groups = across - lines;
    pass.log_order = left;
    pass.lines = batch << (log - factors[i]);
    pass.tiles = pass.lines >> lines;
    passes.push_back(columns);
    left = across;
  }
  PlannedPass rows{TileKind::rows, factors.back(), {}};
  Pass& pass = rows.pass;
  const int lines = lines_log(TileKind::rows, factors.back()), first = factors.front(),
            middle = log - first - factors.back();
  pass.from_transform = pass.to_transform = points;
  pass.from_point = 1;
  pass.from_part = std::int64_t{1} << factors.back();
  pass.from_line = pass.from_part << middle;
  pass.from_group = pass.from_line << lines;
  pass.to_line = 1;
  pass.to_group = std::int64_t{1} << lines;
  pass.to_part = std::int64_t{1} << first;
  pass.to_point = std::int64_t{1} << (first + middle);
  pass.log_parts = middle;
  pass.log_groups = first - lines;
  pass.lines = batch << (log - factors.back());
  pass.tiles = pass.lines >> lines;
  passes.push_back(rows);
  return passes;
}

}  // namespace sfft::detail::tensor
