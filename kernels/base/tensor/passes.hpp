// SPDX-License-Identifier: Apache-2.0
// Which tiles exist, and by which passes a transform is done.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/base/tensor/pass.hpp"
#include "kernels/base/tensor/tile.hpp"

namespace sfft::detail::tensor {

/// Lengths of a transform of one dimension: at most three passes.
constexpr int kLeastLog = 1, kMostLog = 27;
/// The longest line of one pass, in a batch and among others.
constexpr int kMostBatchLog = 13, kMostSideLog = 10;
/// The shortest lines among others, and the shortest that are factors of a longer one.
constexpr int kLeastSideLog = 4;
constexpr int kLeastRowsLog = 7;

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
    with_tile_among<TileKind::rows, kLeastRowsLog>(
        log, use, std::make_integer_sequence<int, kMostSideLog - kLeastRowsLog + 1>());
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

/// Contiguous lines of 2^log points.
inline PlannedPass lines_pass(int log, std::int64_t count) {
  PlannedPass planned{TileKind::batch, log, {}};
  Pass& pass = planned.pass;
  const int lines = lines_log(TileKind::batch, log);
  pass.from_transform = pass.to_transform = std::int64_t{1} << (log + lines);
  pass.lines = count;
  pass.tiles = (count + (std::int64_t{1} << lines) - 1) >> lines;
  return planned;
}

/// Columns of `count` arrays of 2^log rows by 2^log_across columns, in place.
inline PlannedPass columns_pass(int log, int log_across, std::int64_t count) {
  PlannedPass planned{TileKind::columns, log, {}};
  Pass& pass = planned.pass;
  const int lines = lines_log(TileKind::columns, log);
  pass.from_transform = pass.to_transform = std::int64_t{1} << (log + log_across);
  pass.from_group = pass.to_group = std::int64_t{1} << lines;
  pass.from_point = pass.to_point = std::int64_t{1} << log_across;
  pass.log_groups = log_across - lines;
  pass.lines = count << log_across;
  pass.tiles = pass.lines >> lines;
  return planned;
}

/// The last factor of `count` transforms of 2^log points whose first has 2^log_first: what is left in rows,
/// whose results lie side by side.
inline PlannedPass rows_pass(int log_row, int log_first, int log, std::int64_t count) {
  PlannedPass planned{TileKind::rows, log_row, {}};
  Pass& pass = planned.pass;
  const int lines = lines_log(TileKind::rows, log_row), middle = log - log_first - log_row;
  pass.from_transform = pass.to_transform = std::int64_t{1} << log;
  pass.from_part = std::int64_t{1} << log_row;
  pass.from_line = pass.from_part << middle;
  pass.from_group = pass.from_line << lines;
  pass.to_group = std::int64_t{1} << lines;
  pass.to_part = std::int64_t{1} << log_first;
  pass.to_point = std::int64_t{1} << (log_first + middle);
  pass.log_parts = middle;
  pass.log_groups = log_first - lines;
  pass.lines = count << (log - log_row);
  pass.tiles = pass.lines >> lines;
  return planned;
}

/// Passes of `count` transforms of one dimension, contiguous: of lines, or of a long line's factors (Bailey
/// 1990), columns with twiddle factors, then rows.
inline std::vector<PlannedPass> planned_passes(int log, std::int64_t count) {
  const std::vector<int> factors = factors_of(log);
  if (factors.size() == 1) return {lines_pass(log, count)};
  std::vector<PlannedPass> passes;
  int left = log;
  for (std::size_t i = 0; i + 1 < factors.size(); ++i) {
    passes.push_back(columns_pass(factors[i], left - factors[i], count << (log - left)));
    passes.back().pass.log_order = left;
    left -= factors[i];
  }
  passes.push_back(rows_pass(left, factors.front(), log, count));
  return passes;
}

/// Whether planned_passes() takes transforms of these dimensions, slowest first, as logarithms.
inline bool has_passes(const std::vector<int>& logs) {
  if (logs.size() == 1) return logs[0] >= kLeastLog && logs[0] <= kMostLog;
  int across = 0;
  for (std::size_t d = logs.size(); d-- > 0; across += logs[d]) {
    const bool last = d + 1 == logs.size();
    if (logs[d] < (last ? kLeastLog : kLeastSideLog) || logs[d] > (last ? kMostBatchLog : kMostSideLog))
      return false;
    if (!last && lines_log(TileKind::columns, logs[d]) > across) return false;
  }
  return true;
}

/// The same in several dimensions: rows, then every other dimension as columns, all in place.
inline std::vector<PlannedPass> planned_passes(const std::vector<int>& logs, std::int64_t count) {
  if (logs.size() == 1) return planned_passes(logs[0], count);
  int outer = 0, across = 0;
  for (const int log : logs) outer += log;
  std::vector<PlannedPass> passes;
  for (std::size_t d = logs.size(); d-- > 0; across += logs[d]) {
    outer -= logs[d];
    passes.push_back(across == 0 ? lines_pass(logs[d], count << outer)
                                 : columns_pass(logs[d], across, count << outer));
  }
  return passes;
}

/// Passes before one of rows write elsewhere than to the output, whose order is not theirs.
inline bool need_workspace(const std::vector<PlannedPass>& passes) {
  return passes.back().kind == TileKind::rows;
}

}  // namespace sfft::detail::tensor
