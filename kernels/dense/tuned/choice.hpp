// SPDX-License-Identifier: Apache-2.0
// Everything the tuner decides about a transform, and its text in wisdom files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/dense/tuned/program.hpp"

namespace sfft::detail::tuned {

struct Choice {
  /// Not 0: the last two steps run by turns for so many groups (frames, planes, parts of long lines), on so
  /// many streams, and what is between them stays in the L2 cache.
  int at_once = 0, streams = 1;
  bool ring = true;    ///< it has memory of its own; otherwise it is left where it was read
  int min_blocks = 1;  ///< a multiprocessor
  /// Factors of a long line, slowest input digit first, or of a volume's columns, in two steps; empty: lines
  /// are one step.
  std::vector<int> split;
  int chunk = 16;                 ///< neighbouring outputs that a group of a line of three factors computes
  std::vector<LineChoice> lines;  ///< of the forward transform's steps, in their order
  friend bool operator==(const Choice&, const Choice&) = default;
};

/// "once 2 streams 3 blocks 1 chunk 16 split - | 12.9.10 t108 l8 m s | 10.8.12 t96 l9 e16 p1", "ring 0"
/// where there is none: of every step the radices, threads, lines, pad_every, pad, resident (r4), distance
/// (d25), spread (v7000), stagger (g350), and m position_major, s split, c staged, x across, q ahead, b
/// early; twiddle factors a of two roots, w of the table; caching n past_l1, f prefetch, o streaming.
std::string to_text(const Choice& choice);
/// Nothing for a text that is none, or whose numbers no kernel could have.
std::optional<Choice> parse_choice(const std::string& text);

/// A problem's choice and, of real signals, another one for samples of 8 bits where that is faster: reading
/// them takes a quarter of the memory's time.
struct Choices {
  Choice own;
  std::optional<Choice> bytes;
};
/// "… bytes …", or the one choice alone.
std::string to_text(const Choices& choices);
std::optional<Choices> parse_choices(const std::string& text);

/// What is to be computed of lines of `points` and how tiles lie in memory.
struct LineNeed {
  int points = 1;
  bool by_line = false;    ///< lines of a tile are neighbours in memory, points are not
  bool exchanged = false;  ///< by_line on one side only
  bool half = false;       ///< halves of spectra: whole tiles go through shared memory
  bool paired = false;     ///< of mirrored rows: two lines belong together
  bool turned = false;     ///< followed by the twiddle factors of a longer line
  int extent = 0;          ///< not 0: a grid of so many rows, see Step
  std::int64_t lines = 0;  ///< of a group; 0: many
};

/// Of the butterflies that kernels are made of, largest first.
constexpr int kRadices[] = {40, 36, 32, 30, 27, 25, 24, 20, 18, 17, 16, 15,
                            13, 12, 11, 10, 9,  8,  7,  6,  5,  4,  3,  2};
/// Points of an FFT within a block: 256 KiB of floats, which pass through half as much shared memory.
constexpr int kMostLength = 1 << 15;
/// Complex numbers in the registers of a thread: of floats, half as many of doubles.
constexpr int kMostRegisters = 64;
/// Of a block, on every GPU.
constexpr int kMostThreads = 1024;
/// Blocks of a multiprocessor, on every GPU.
constexpr int kMostResident = 32;
/// Of tiles that are prefetched, in percent of what the GPU holds.
constexpr int kMostDistance = 1000;
/// Clock cycles of a spread or a stagger.
constexpr int kMostDelay = 100000;
/// Of a tile of a grid: what a multiprocessor's registers hold beside the rest.
constexpr std::int64_t kMostGridBytes = 192 << 10;

/// Limits of a device.
struct Limits {
  std::size_t shared_bytes = 48 << 10;  ///< of a block, with opt-in
};

/// Threads of a line that leave few idle, ascending; each holds at most `most_registers` points, or one
/// butterfly.
std::vector<int> thread_counts(const std::vector<int>& radices, int length, int most_registers);
/// Whether a length is a product of the radices.
bool has_radices(int length);
/// FFTs by which lines of `points` can be transformed: their own where there are radices for it, else those
/// of convolutions. Twiddle factors of a longer line (`turned`) cannot follow Rader's.
std::vector<int> fft_lengths(int points, bool turned);
/// What an FFT of `length` does for lines of `points`; nothing if it does not transform them.
std::optional<Method> method_of(int points, int length, bool turned);
/// Whether a block can hold such lines.
bool fits(int points, bool single, const Limits& limits);
/// Candidates by a count of operations, best first, at most `most`.
std::vector<LineChoice> candidates(const LineNeed& need, bool single, const Limits& limits, std::size_t most);

}  // namespace sfft::detail::tuned
