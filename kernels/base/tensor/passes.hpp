// SPDX-License-Identifier: Apache-2.0
// Which tiles exist, and which passes make up a transform.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "kernels/base/tensor/pass.hpp"
#include "kernels/base/tensor/tile.hpp"

namespace sfft::detail::tensor {

/// Logarithms of lengths, where the engine was the fastest on an H200: short lines in one pass, and long ones
/// in two, columns and rows.
constexpr int kMinLog = 1, kMaxShortLog = 5, kMinLongLog = 13, kMaxLongLog = 15;
/// The rows of long lines.
constexpr int kRowLog = 7;
/// Long lines have fewer points together. Batches of short lines with fewer points use small tiles.
constexpr std::int64_t kFewPoints = std::int64_t{1} << 19;

/// Whether planned_passes() supports `count` lines of 2^log points.
constexpr bool has_passes(int log, std::int64_t count) {
  return (log >= kMinLog && log <= kMaxShortLog) ||
         (log >= kMinLongLog && log <= kMaxLongLog && count < kFewPoints >> log);
}

/// Lines per tile, as a logarithm: what was fastest on an H200.
/// Large tiles have 4096 points. Small tiles have what the columns of a warp need, lines side by side in
/// whole 32-byte sectors, and more of the shortest columns, because every block costs time.
SFFT_HOST_DEVICE constexpr int lines_log_of(TileKind kind, int log, bool small) {
  if (!small) return 12 - log;
  const int min = log == 6 ? 4 : kColumnBits + radix_bits_of(log, 0) - log;
  const int side = kind == TileKind::batch ? 0 : 2;
  return min > side ? min : side;
}

/// The tile of a pass. Columns and rows are always small.
struct TileChoice {
  TileKind kind;
  int log;
  bool small;
  int log_lines() const { return lines_log_of(kind, log, small); }
  friend bool operator<(const TileChoice& a, const TileChoice& b) {
    return std::tie(a.kind, a.log, a.small) < std::tie(b.kind, b.log, b.small);
  }
};

template <TileKind kKind, bool kSmall, int kFirst, int... i, class Use>
void with_tile_among(int log, const Use& use, std::integer_sequence<int, i...>) {
  ((log == kFirst + i ? use(Tile<kFirst + i, lines_log_of(kKind, kFirst + i, kSmall), kKind, kSmall>{})
                      : void()),
   ...);
}
/// Calls use() with the tile type of a choice.
template <class Use>
void with_tile(const TileChoice& choice, const Use& use) {
  if (choice.kind == TileKind::batch) {
    constexpr auto kLogs = std::make_integer_sequence<int, kMaxShortLog - kMinLog + 1>();
    choice.small ? with_tile_among<TileKind::batch, true, kMinLog>(choice.log, use, kLogs)
                 : with_tile_among<TileKind::batch, false, kMinLog>(choice.log, use, kLogs);
  } else if (choice.kind == TileKind::columns) {
    with_tile_among<TileKind::columns, true, kMinLongLog - kRowLog>(
        choice.log, use, std::make_integer_sequence<int, kMaxLongLog - kMinLongLog + 1>());
  } else {
    with_tile_among<TileKind::rows, true, kRowLog>(choice.log, use, std::make_integer_sequence<int, 1>());
  }
}

/// A pass without its pointers, direction and scale.
struct PlannedPass {
  TileChoice tile;
  Pass pass;
};

/// `count` contiguous lines of 2^log points.
inline PlannedPass lines_pass(int log, std::int64_t count, bool small) {
  PlannedPass planned{{TileKind::batch, log, small}, {}};
  Pass& pass = planned.pass;
  const int lines = planned.tile.log_lines();
  pass.transform = std::int64_t{1} << (log + lines);
  pass.lines = count;
  pass.tiles = (pass.lines + (std::int64_t{1} << lines) - 1) >> lines;
  return planned;
}

/// Columns of `count` arrays of 2^log rows by 2^log_across columns, in place, with the factors between
/// passes.
inline PlannedPass columns_pass(int log, int log_across, std::int64_t count) {
  PlannedPass planned{{TileKind::columns, log, true}, {}};
  Pass& pass = planned.pass;
  const int lines = planned.tile.log_lines();
  pass.transform = std::int64_t{1} << (log + log_across);
  pass.from_group = pass.to_group = std::int64_t{1} << lines;
  pass.point = std::int64_t{1} << log_across;
  pass.log_groups = log_across - lines;
  pass.lines = count << log_across;
  pass.tiles = pass.lines >> lines;
  pass.log_order = log + log_across;
  return planned;
}

/// The 2^log_rows rows of 2^log points of `count` transforms, whose results lie side by side.
inline PlannedPass rows_pass(int log, int log_rows, std::int64_t count) {
  PlannedPass planned{{TileKind::rows, log, true}, {}};
  Pass& pass = planned.pass;
  const int lines = planned.tile.log_lines();
  pass.transform = std::int64_t{1} << (log + log_rows);
  pass.from_line = std::int64_t{1} << log;
  pass.from_group = pass.from_line << lines;
  pass.to_group = std::int64_t{1} << lines;
  pass.point = std::int64_t{1} << log_rows;
  pass.log_groups = log_rows - lines;
  pass.lines = count << log_rows;
  pass.tiles = pass.lines >> lines;
  return planned;
}

/// Passes of `count` contiguous lines: one, or the factors of a long line (Bailey 1990), first columns with
/// twiddle factors, then rows.
inline std::vector<PlannedPass> planned_passes(int log, std::int64_t count) {
  if (log <= kMaxShortLog) return {lines_pass(log, count, count << log < kFewPoints)};
  return {columns_pass(log - kRowLog, kRowLog, count), rows_pass(kRowLog, log - kRowLog, count)};
}

/// The first of two passes must not write to the output, whose order differs.
inline bool need_workspace(const std::vector<PlannedPass>& passes) {
  return passes.size() > 1;
}

}  // namespace sfft::detail::tensor
