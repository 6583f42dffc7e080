// SPDX-License-Identifier: Apache-2.0
#include "kernels/dense/tuned/variations.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sfft::detail::tuned {

namespace {

constexpr int kMostPoints = 32;  ///< of a thread
constexpr Caching kCachings[] = {{Loads::usual, false}, {Loads::past_l1, false}, {Loads::prefetch, false},
                                 {Loads::usual, true},  {Loads::past_l1, true},  {Loads::prefetch, true}};
/// Of the tiles that a multiprocessor holds. Where more fit, they may only get into each other's way.
constexpr int kResidentBytes[] = {40 << 10, 56 << 10, 72 << 10, 88 << 10, 104 << 10};

/// Tiles that are prefetched must be in the L2 cache still when their blocks begin.
constexpr int kDistances[] = {0, 12, 25, 35};

std::vector<int> residents(const LineChoice& line, bool single) {
  std::vector<int> counts;
  const int tile = line.length() * line.lines * (single ? 8 : 16);
  for (const int bytes : kResidentBytes) {
    const int count = std::min(bytes / tile, kMostResident);
    if (count > 0 && (counts.empty() || counts.back() != count)) counts.push_back(count);
  }
  return counts;
}

/// Clock cycles. Blocks of one wave read for some microseconds before all of them compute, those of one
/// multiprocessor for less.
constexpr int kSpreads[] = {0, 7000, 14000, 21000};
constexpr int kStaggers[] = {0, 200, 400};

}  // namespace

bool alone_on_multiprocessor(const LineChoice& line, bool single) {
  constexpr int kBytes = 80 << 10;
  return line.length() * line.lines * (single ? 8 : 16) > kBytes;
}

Choice with_caching(Choice choice, const Caching& caching) {
  for (LineChoice& line : choice.lines) line.caching = caching;
  return choice;
}

std::vector<Choice> neighbours(const Choice& base) {
  std::vector<Choice> all;
  if (base.split.size() == 3 && base.split[0] % (2 * base.chunk) == 0) {
    Choice wider = base;
    wider.chunk *= 2;
    wider.lines[1].lines *= 2;
    wider.lines[2].lines *= 2;
    const auto fits = [](const LineChoice& line) { return line.threads * line.lines <= kMostThreads; };
    if (std::all_of(wider.lines.begin(), wider.lines.end(), fits)) all.push_back(wider);
  }
  for (std::size_t step = 0; step < base.lines.size(); ++step) {
    const LineChoice& best = base.lines[step];
    const auto add = [&](std::vector<int> radices, int threads, int lines) {
      LineChoice line = best;
      line.radices = std::move(radices);
      line.threads = threads;
      line.lines = lines;
      if (best.pad_every == best.radices[0]) line.pad_every = line.radices[0];
      if (line == best || lines < 1 || threads * lines > kMostThreads ||
          line.registers() > std::max(kMostPoints, best.registers()))
        return;
      all.push_back(base);
      all.back().lines[step] = line;
    };
    std::vector<int> order = best.radices;
    std::sort(order.begin(), order.end());
    do {
      add(order, best.threads, best.lines);
    } while (std::next_permutation(order.begin(), order.end()));
    for (const int threads : thread_counts(best.radices, best.length(), kMostPoints)) {
      for (const int lines : {best.lines / 2, best.lines, 2 * best.lines}) add(best.radices, threads, lines);
    }
  }
  return all;
}

std::vector<Choice> refinements(const Choice& base, bool real, bool single) {
  std::vector<Choice> all;
  const auto add = [&](const Choice& choice) {
    if (choice != base && std::find(all.begin(), all.end(), choice) == all.end()) all.push_back(choice);
  };
  for (const int blocks : {2, 3, 4, 6, 8}) {
    Choice choice = base;
    choice.min_blocks = blocks;
    add(choice);
  }
  for (const Caching& caching : kCachings) add(with_caching(base, caching));
  for (const int stagger : kStaggers) {
    Choice choice = base;
    for (LineChoice& line : choice.lines) line.stagger = stagger;
    add(choice);
  }
  Choice accurate = base;
  for (LineChoice& line : accurate.lines) line.twiddles = Twiddles::two_roots;
  add(accurate);
  for (std::size_t step = 0; step < base.lines.size(); ++step) {
    Choice varied = base;
    LineChoice& line = varied.lines[step];
    const auto try_all = [&](auto LineChoice::*member, const auto& values) {
      for (const auto& value : values) {
        line.*member = value;
        add(varied);
      }
      line = base.lines[step];
    };
    try_all(&LineChoice::twiddles, std::array{Twiddles::one_root, Twiddles::two_roots, Twiddles::table});
    try_all(&LineChoice::pad_every, std::array{0, line.radices[0], 8, 16, 32});
    try_all(&LineChoice::pad, std::array{0, 1, 2});
    try_all(&LineChoice::caching, kCachings);
    try_all(&LineChoice::resident, residents(line, single));
    try_all(&LineChoice::distance, kDistances);
    try_all(&LineChoice::stagger, kStaggers);
    if (alone_on_multiprocessor(line, single)) {
      for (const int distance : kDistances) {
        line.distance = distance;
        for (const int spread : kSpreads) {
          line.spread = spread;
          add(varied);
        }
      }
      line = base.lines[step];
    }
    if (!real && base.lines.size() == 1) try_all(&LineChoice::early, std::array{false, true});
    if (real && base.lines.size() > 1 && step == 0) {
      line.ahead = true;
      try_all(&LineChoice::lines, std::array{line.lines, 2 * line.lines});
    }
  }
  return all;
}

}  // namespace sfft::detail::tuned
