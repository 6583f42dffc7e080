// SPDX-License-Identifier: Apache-2.0
// Which tiles exist, and which passes make up a transform.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "kernels/base/tensor/joined_tile.hpp"
#include "kernels/base/tensor/pass.hpp"

namespace sfft::detail::tensor {

/// Logarithms of the lengths of a 1D transform: at most three passes.
constexpr int kMinLog = 1, kMaxLog = 27;
/// The longest line of one pass: in a batch, and side by side.
constexpr int kMaxBatchLog = kMaxJoinedLog, kMaxSideLog = 10;
/// The shortest lines side by side; a longer transform's factors are no shorter.
constexpr int kMinSideLog = 3;
constexpr int kMinRowsLog = 7;
/// Columns and rows of planes done in one pass, for transforms of few points.
constexpr int kMinPlaneLog = 3, kMaxPlaneLog = 6;
/// Columns and rows of one stage each, or two each. Mixed planes leave warps idle and are slower.
SFFT_HOST_DEVICE constexpr bool is_plane(int log_column, int log_row) {
  const int min = log_column < log_row ? log_column : log_row, max = log_column + log_row - min;
  return min >= kMinPlaneLog && max <= kMaxPlaneLog && stages_of(min) == stages_of(max);
}

/// Whether one warp transforms a line, or a part of one (not in small tiles).
SFFT_HOST_DEVICE constexpr bool by_warps(TileKind kind, int log) {
  return kind == TileKind::batch ? log >= kMinDirectLog : log >= kMinWarpLog && log <= kMaxWarpLog;
}

/// Lines per tile, as a logarithm: what was fastest on an H200.
/// Lines that a warp transforms without shared memory: one for each of four warps, or eight of 64 points.
/// Longer lines of a batch: one. Shorter ones: 4096 points. Lines side by side: 16, a cache line of 128
/// bytes, or 8192 points. Small tiles: what the columns of a warp need, lines side by side in whole 32-byte
/// sectors, and more of the shortest lines, because every block costs time.
SFFT_HOST_DEVICE constexpr int lines_log_of(TileKind kind, int log, bool small) {
  if (!small && kind == TileKind::batch)
    return !by_warps(kind, log) ? 12 - log : log == kMinDirectLog ? 5 : log <= kMaxWarpLog ? 2 : 0;
  if (!small && kind == TileKind::rows && log < 9) return 4;
  if (!small) return log < 8 ? 12 - log : 13 - log;
  const int min = log == 6 ? 4 : kColumnBits + radix_bits_of(log, 0) - log;
  const int side = kind == TileKind::batch ? 0 : 2;
  return min > side ? min : side;
}

template <TileKind kKind, bool kSmall, int kLog, class Use>
void with_tile_of(const Use& use) {
  constexpr int kLines = lines_log_of(kKind, kLog, kSmall);
  if constexpr (!kSmall && kKind == TileKind::batch && kLog > kMaxWarpLog) {
    use(JoinedTile<kLog>{});
  } else if constexpr (!kSmall && by_warps(kKind, kLog)) {
    use(WarpTile<kLog, kLines, kKind>{});
  } else {
    use(Tile<kLog, kLines, kKind, kSmall>{});
  }
}
template <TileKind kKind, bool kSmall, int kFirst, int... i, class Use>
void with_tile_among(int log, const Use& use, std::integer_sequence<int, i...>) {
  ((log == kFirst + i ? with_tile_of<kKind, kSmall, kFirst + i>(use) : void()), ...);
}
/// Calls use() with the tile type for lines of 2^log points.
template <bool kSmall, class Use>
void with_tile(TileKind kind, int log, const Use& use) {
  if (kind == TileKind::batch) {
    with_tile_among<TileKind::batch, kSmall, kMinLog>(
        log, use, std::make_integer_sequence<int, kMaxBatchLog - kMinLog + 1>());
  } else if (kind == TileKind::columns) {
    with_tile_among<TileKind::columns, kSmall, kMinSideLog>(
        log, use, std::make_integer_sequence<int, kMaxSideLog - kMinSideLog + 1>());
  } else {
    with_tile_among<TileKind::rows, kSmall, kMinRowsLog>(
        log, use, std::make_integer_sequence<int, kMaxSideLog - kMinRowsLog + 1>());
  }
}
/// Planes per tile, as a logarithm: what the columns of a warp need.
SFFT_HOST_DEVICE constexpr int planes_log_of(int log_column, int log_row) {
  const int column = radix_bits_of(log_column, 0), row = radix_bits_of(log_row, 0),
            min = kColumnBits + (column > row ? column : row) - log_column - log_row;
  return min > 0 ? min : 0;
}
template <int kLogColumn, int kLogRow, class Use>
void with_plane_of(const Use& use) {
  if constexpr (is_plane(kLogColumn, kLogRow)) {
    use(Tile<kLogColumn + kLogRow, planes_log_of(kLogColumn, kLogRow), TileKind::batch, true, kLogRow>{});
  }
}
template <int kLogColumn, int... i, class Use>
void with_plane_among(int log_row, const Use& use, std::integer_sequence<int, i...>) {
  ((log_row == kMinPlaneLog + i ? with_plane_of<kLogColumn, kMinPlaneLog + i>(use) : void()), ...);
}
/// Calls use() with the tile type for planes of 2^log points with rows of 2^log_row.
template <int... i, class Use>
void with_plane(int log, int log_row, const Use& use, std::integer_sequence<int, i...> all) {
  ((log - log_row == kMinPlaneLog + i ? with_plane_among<kMinPlaneLog + i>(log_row, use, all) : void()), ...);
}
/// The tile of a pass.
struct TileChoice {
  TileKind kind;
  int log;
  bool small;
  int log_row = 0;  ///< of planes
  int log_lines() const {
    return log_row > 0 ? planes_log_of(log - log_row, log_row) : lines_log_of(kind, log, small);
  }
  bool of_warps() const { return !small && by_warps(kind, log); }
  friend bool operator<(const TileChoice& a, const TileChoice& b) {
    return std::tie(a.kind, a.log, a.small, a.log_row) < std::tie(b.kind, b.log, b.small, b.log_row);
  }
};
template <class Use>
void with_tile(const TileChoice& choice, const Use& use) {
  if (choice.log_row > 0) {
    return with_plane(choice.log, choice.log_row, use,
                      std::make_integer_sequence<int, kMaxPlaneLog - kMinPlaneLog + 1>());
  }
  choice.small ? with_tile<true>(choice.kind, choice.log, use)
               : with_tile<false>(choice.kind, choice.log, use);
}

/// A pass without its pointers, direction and scale.
struct PlannedPass {
  TileChoice tile;
  Pass pass;
};

/// Transforms of fewer points use small tiles (measured on an H200); columns and rows of up to twice as many.
constexpr std::int64_t kFewPoints = std::int64_t{1} << 19;
/// Transforms of a problem.
struct Count {
  std::int64_t transforms;
  std::int64_t few = kFewPoints;
};

/// The tile of a pass over transforms of 2^log_points points, with `log_across` lines side by side.
inline TileChoice choice_of(TileKind kind, int log, int log_across, const Count& count, int log_points) {
  TileChoice choice{kind, log, false};
  const bool side = kind != TileKind::batch;
  choice.small = count.transforms << log_points < (side ? 2 : 1) * count.few ||
                 (side && choice.log_lines() > log_across);
  return choice;
}

/// The factors of a length above one pass, as logarithms: nearly equal, the larger first. A few transforms of
/// the longest single-pass line are split in two, because such lines leave most of a GPU idle.
inline std::vector<int> factors_of(int log, const Count& count) {
  if (log == kMaxBatchLog && count.transforms << log < count.few) return {log - kMinRowsLog, kMinRowsLog};
  if (log <= kMaxBatchLog) return {log};
  const int passes = log <= 2 * kMaxSideLog ? 2 : 3;
  std::vector<int> factors;
  for (int i = 0; i < passes; ++i) factors.push_back((log + passes - 1 - i) / passes);
  return factors;
}

/// Contiguous lines of 2^log points.
inline PlannedPass lines_pass(int log, const Count& count) {
  PlannedPass planned{choice_of(TileKind::batch, log, 0, count, log), {}};
  Pass& pass = planned.pass;
  const int lines = planned.tile.log_lines();
  pass.from_transform = pass.to_transform = std::int64_t{1} << (log + lines);
  pass.lines = count.transforms;
  pass.tiles = (pass.lines + (std::int64_t{1} << lines) - 1) >> lines;
  return planned;
}

/// Columns of `count` arrays of 2^log rows by 2^log_across columns, in place.
inline PlannedPass columns_pass(int log, int log_across, const Count& count) {
  PlannedPass planned{choice_of(TileKind::columns, log, log_across, count, log + log_across), {}};
  Pass& pass = planned.pass;
  const int lines = planned.tile.log_lines();
  pass.from_transform = pass.to_transform = std::int64_t{1} << (log + log_across);
  pass.from_group = pass.to_group = std::int64_t{1} << lines;
  pass.from_point = pass.to_point = std::int64_t{1} << log_across;
  pass.log_groups = log_across - lines;
  pass.lines = count.transforms << log_across;
  pass.tiles = pass.lines >> lines;
  return planned;
}

/// The last factor of `count` transforms of 2^log points whose first factor is 2^log_first: contiguous rows,
/// whose results lie side by side.
inline PlannedPass rows_pass(int log_row, int log_first, int log, const Count& count) {
  PlannedPass planned{choice_of(TileKind::rows, log_row, log_first, count, log), {}};
  Pass& pass = planned.pass;
  const int lines = planned.tile.log_lines(), middle = log - log_first - log_row;
  pass.from_transform = pass.to_transform = std::int64_t{1} << log;
  pass.from_part = std::int64_t{1} << log_row;
  pass.from_line = pass.from_part << middle;
  pass.from_group = pass.from_line << lines;
  pass.to_group = std::int64_t{1} << lines;
  pass.to_part = std::int64_t{1} << log_first;
  pass.to_point = std::int64_t{1} << (log_first + middle);
  pass.log_parts = middle;
  pass.log_groups = log_first - lines;
  pass.lines = count.transforms << (log - log_row);
  pass.tiles = pass.lines >> lines;
  return planned;
}

/// Passes of `count` contiguous 1D transforms: lines, or the factors of a long line (Bailey 1990), first
/// columns with twiddle factors, then rows.
inline std::vector<PlannedPass> planned_passes(int log, const Count& count) {
  const std::vector<int> factors = factors_of(log, count);
  if (factors.size() == 1) return {lines_pass(log, count)};
  std::vector<PlannedPass> passes;
  int left = log;
  for (std::size_t i = 0; i + 1 < factors.size(); ++i) {
    passes.push_back(
        columns_pass(factors[i], left - factors[i], {count.transforms << (log - left), count.few}));
    passes.back().pass.log_order = left;
    left -= factors[i];
  }
  passes.push_back(rows_pass(left, factors.front(), log, count));
  return passes;
}

/// Whether planned_passes() supports these dimensions, slowest first, as logarithms.
inline bool has_passes(const std::vector<int>& logs) {
  if (logs.size() == 1) return logs[0] >= kMinLog && logs[0] <= kMaxLog;
  int across = 0;
  for (std::size_t d = logs.size(); d-- > 0; across += logs[d]) {
    const bool last = d + 1 == logs.size();
    if (logs[d] < (last ? kMinLog : kMinSideLog) || logs[d] > (last ? kMaxBatchLog : kMaxSideLog))
      return false;
    if (!last && lines_log_of(TileKind::columns, logs[d], true) > across) return false;
  }
  return true;
}

/// Contiguous planes of rows of 2^log_row points.
inline PlannedPass planes_pass(int log_column, int log_row, const Count& count) {
  PlannedPass planned{{TileKind::batch, log_column + log_row, true, log_row}, {}};
  Pass& pass = planned.pass;
  const int planes = planned.tile.log_lines();
  pass.from_transform = pass.to_transform = std::int64_t{1} << (planned.tile.log + planes);
  pass.lines = count.transforms;
  pass.tiles = (pass.lines + (std::int64_t{1} << planes) - 1) >> planes;
  return planned;
}

/// The same in several dimensions: rows, then every other dimension as columns, all in place. If there are
/// few points, planes come first.
inline std::vector<PlannedPass> planned_passes(const std::vector<int>& logs, const Count& count) {
  if (logs.size() == 1) return planned_passes(logs[0], count);
  int outer = 0, across = 0;
  for (const int log : logs) outer += log;
  std::vector<PlannedPass> passes;
  const std::size_t rank = logs.size();
  const bool few = count.transforms << outer < count.few;
  std::size_t left = rank;
  if (few && is_plane(logs[rank - 2], logs[rank - 1])) {
    across = logs[rank - 1] + logs[rank - 2];
    outer -= across;
    passes.push_back(planes_pass(logs[rank - 2], logs[rank - 1], {count.transforms << outer, count.few}));
    left = rank - 2;
  }
  for (std::size_t d = left; d-- > 0; across += logs[d]) {
    outer -= logs[d];
    const Count arrays{count.transforms << outer, count.few};
    passes.push_back(across == 0 ? lines_pass(logs[d], arrays) : columns_pass(logs[d], across, arrays));
  }
  return passes;
}

/// Passes before one of rows must not write to the output, whose order differs.
inline bool need_workspace(const std::vector<PlannedPass>& passes) {
  return passes.back().tile.kind == TileKind::rows;
}

}  // namespace sfft::detail::tensor
