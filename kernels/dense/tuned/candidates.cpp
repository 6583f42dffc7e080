// SPDX-License-Identifier: Apache-2.0
// The tuner's candidates: factorisations, their order, threads, lines of a tile and padding (Nukada and
// Matsuoka 2009, section 4), ranked by a count of operations so that few have to be timed.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "kernels/dense/tuned/choice.hpp"
#include "kernels/dense/tuned/grid.hpp"
#include "kernels/dense/tuned/places.hpp"

namespace sfft::detail::tuned {

namespace {

constexpr std::size_t kBluesteinLengths = 2;  ///< that are tried
constexpr std::size_t kAlike = 2;             ///< candidates that differ in the order of their radices alone
constexpr std::size_t kOfSet = 8;             ///< candidates that share their radices
/// Of the work of Rader's convolutions, where their permutations meet no bank twice (measured: half, 1021).
constexpr double kWithPlaces = 0.6;
/// Points of a grid from which on exchanges cost more than few threads do (measured).
constexpr int kLargeGrid = 2048;
constexpr int kMostOfLine = 32, kMostOfGrid = 48;  ///< floats' points of a thread: tiles of grids are large
constexpr int kCoalesced = 16;  ///< neighbouring points that one access to memory reads well

/// Arithmetic of a butterfly, a point: 5 log2 R for powers of two, more for others.
double work(int radix) {
  static const std::map<int, double> kExtra{{3, 1.2},   {5, 1.4},  {6, 1.1},  {7, 1.7},  {9, 1.35},
                                            {10, 1.2},  {11, 2.6}, {12, 1.1}, {13, 2.9}, {15, 1.4},
                                            {17, 3.8},  {18, 1.2}, {20, 1.2}, {24, 1.1}, {25, 1.5},
                                            {27, 1.35}, {30, 1.3}, {36, 1.2}, {40, 1.2}};
  const auto extra = kExtra.find(radix);
  return 5 * std::log2(radix) * (extra == kExtra.end() ? 1 : extra->second);
}

/// Every multiset of radices up to `largest` with this product, largest first.
void factorise(int left, int largest, std::vector<int>& chosen, std::vector<std::vector<int>>& all) {
  if (left == 1) {
    if (!chosen.empty()) all.push_back(chosen);
    return;
  }
  if (chosen.size() == 6) return;
  for (const int radix : kRadices) {
    if (radix > largest || left % radix != 0) continue;
    chosen.push_back(radix);
    factorise(left / radix, radix, chosen, all);
    chosen.pop_back();
  }
}

/// A thread's registers hold butterflies of 40 floats, or 20 doubles.
std::vector<std::vector<int>> factorisations(int length, bool single) {
  std::vector<std::vector<int>> all;
  std::vector<int> chosen;
  factorise(length, single ? 40 : 20, chosen, all);
  std::size_t fewest = 99;
  for (const auto& radices : all) fewest = std::min(fewest, radices.size());
  std::erase_if(all, [&](const auto& radices) { return radices.size() > fewest + 1; });
  return all;
}

/// Operations a point, with idle threads counted as busy ones; an exchange costs about as much as radix 8.
double cost(const LineChoice& line, bool large = false) {
  const int length = line.length();
  double sum = 14.0 * static_cast<double>(line.radices.size() - 1);
  for (const int radix : line.radices) {
    const int rounds = (length / radix + line.threads - 1) / line.threads;
    sum += work(radix) * rounds * line.threads * radix / length;
  }
  const int registers = line.registers();
  if (registers > 16) sum *= 1 + (large ? 0.004 : 0.012) * (registers - 16);
  if (registers < 6) sum *= 1 + 0.05 * (6 - registers);
  return sum;
}

struct Ranked {
  double cost;
  LineChoice line;
};

bool prime(int n) {
  for (int d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n > 2;
}

double best_cost(int length) {
  double best = 1e9;
  for (const auto& radices : factorisations(length, true)) {
    for (const int threads : thread_counts(radices, length, 32)) {
      best = std::min(best, cost({.radices = radices, .threads = threads}));
    }
  }
  return best;
}

std::size_t tile_bytes(const LineChoice& line, Method method, int points, bool single) {
  const int places =
      line.has_places(method) ? places_of(line, points, single) : std::max(line.length(), points);
  const int padded = places + (line.pad_every > 0 ? places / line.pad_every : 0) + line.pad;
  return static_cast<std::size_t>(padded) *
         static_cast<std::size_t>(line.lines + (line.position_major ? line.pad : 0)) * (single ? 8 : 16) /
         (line.split ? 2 : 1);
}

/// How well loads of resident blocks cover the memory's latency, 1 at best, and what short runs of
/// neighbouring addresses cost. Calibrated on an H200: about 40 KiB under way on a multiprocessor give half
/// its bandwidth.
double memory_cost(const LineNeed& need, Method method, const LineChoice& line, bool single,
                   const Limits& limits) {
  const int threads = (line.threads * line.lines + 31) / 32 * 32, points = line.registers();
  const int registers = std::min(255, (2 * points * (single ? 1 : 2) + 26 + 7) / 8 * 8);
  const auto shared =
      static_cast<int>(limits.shared_bytes / (tile_bytes(line, method, need.points, single) + 1024));
  const int blocks = std::min({65536 / (registers * threads), 2048 / threads, std::max(shared, 1), 32});
  if (blocks == 0) return 10;
  const double used = static_cast<double>(need.points) * line.lines * (single ? 8 : 16) * blocks;
  double cost = 1 + 40960.0 / used;
  if (blocks == 1) cost *= need.extent > 0 ? 1.1 : 1.3;  // of grids it prefetches
  if (need.by_line || need.exchanged) {
    const int run = line.lines * (single ? 8 : 16);
    if (run < 128) cost *= run < 64 ? 1.4 : 1.08;
  }
  return cost;
}

/// Lines of a tile that are worth a try.
std::vector<int> line_counts(const LineNeed& need, Method method, int threads, bool single) {
  const int values_of_line = static_cast<int>(line_values(single));
  std::vector<int> counts;
  if (need.by_line || need.exchanged) {
    counts = {values_of_line, values_of_line / 2, 2 * values_of_line, values_of_line / 4};
  } else {
    for (const int block : {64, 128, 256, 512}) {
      const int n = std::max(1, block / threads);
      counts.push_back(need.paired ? std::max(2, n / 2 * 2) : n);
    }
    if (method == Method::rader) counts.insert(counts.end(), {values_of_line, 2 * values_of_line});
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  std::erase_if(counts, [&](int n) {
    return n * threads > kMostThreads || (need.lines > 0 && n > need.lines) ||
           (need.extent > 0 && need.lines % n != 0);
  });
  return counts;
}

/// The ways to put tiles of one line choice into memory.
void variants(const LineNeed& need, Method method, const LineChoice& base, bool single, const Limits& limits,
              std::vector<Ranked>& out) {
  const double arithmetic =
      cost(base, need.extent > 0 && base.length() >= kLargeGrid) / 120 * base.length() / need.points;
  for (const int n : line_counts(need, method, base.threads, single)) {
    LineChoice line = base;
    line.lines = n;
    line.position_major = need.by_line && !need.exchanged;
    // The first pass writes radices[0] places apart: padding where that comes back to the same banks.
    const int first = base.radices[0], banks = static_cast<int>(line_values(single));
    if (line.position_major ? n < banks && first * n % banks == 0 : first % 2 == 0) line.pad_every = first;
    // Of grids what rows exchange; tiles of neighbours leave the rest to the L1 cache (measured).
    if (need.extent > 0) {
      const int of_rows = line.radices[line.radices_of_columns(need.extent)];
      line.pad_every = need.by_line || of_rows % 2 != 0 ? 0 : of_rows;
    }
    line.pad = need.exchanged ? 1 : 0;
    const bool rows = !need.by_line && !need.exchanged && !need.half;
    for (const bool staged : {false, true}) {
      const bool needed = rows && method == Method::rader;
      if (staged != needed && !(staged && rows && base.threads < kCoalesced)) continue;
      if (staged && need.extent > 0) continue;
      line.staged = staged;
      line.across = needed && n % banks == 0;
      line.split = false;
      if (tile_bytes(line, method, need.points, single) > limits.shared_bytes) {
        if (staged || need.half) continue;
        line.split = true;
        // The longest lines fit without padding only.
        if (n == 1 && tile_bytes(line, method, need.points, single) > limits.shared_bytes) line.pad_every = 0;
        if (tile_bytes(line, method, need.points, single) > limits.shared_bytes) continue;
      }
      const int threads = base.threads * n;
      const double idle = (threads + 31) / 32 * 32.0 / threads;
      const double work = arithmetic * (line.has_places(method) ? kWithPlaces : 1);
      out.push_back({work * idle + memory_cost(need, method, line, single, limits), line});
    }
  }
}

}  // namespace

bool has_radices(int length) {
  for (const int prime : {2, 3, 5, 7, 11, 13, 17}) {
    while (length % prime == 0) length /= prime;
  }
  return length == 1;
}

std::vector<int> thread_counts(const std::vector<int>& radices, int length, int most_registers) {
  std::vector<int> counts;
  // A thread holds the points of one butterfly at least.
  const int most = std::max(most_registers, *std::max_element(radices.begin(), radices.end()));
  for (const int radix : radices) {
    for (int rounds = 1; rounds <= 8; ++rounds) {
      const int threads = (length / radix + rounds - 1) / rounds;
      if (threads > kMostThreads || threads * most < length) continue;
      counts.push_back(threads);
    }
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

std::optional<Method> method_of(int points, int length, bool turned) {
  if (length == points) return Method::plain;
  if (length == points - 1 && !turned && prime(points)) return Method::rader;
  if (length >= 2 * points - 1) return Method::bluestein;
  return std::nullopt;
}

std::vector<int> fft_lengths(int points, bool turned) {
  if (has_radices(points)) return {points};
  std::vector<int> lengths;
  if (has_radices(points - 1) && method_of(points, points - 1, turned)) lengths.push_back(points - 1);
  const int least = 2 * points - 1;
  std::vector<std::pair<double, int>> ranked;
  for (int m = least; m <= std::min(least + least / 6 + 8, kMostLength); ++m) {
    if (has_radices(m)) ranked.push_back({best_cost(m) * m, m});
  }
  std::sort(ranked.begin(), ranked.end());
  for (std::size_t i = 0; i < std::min(ranked.size(), kBluesteinLengths); ++i)
    lengths.push_back(ranked[i].second);
  return lengths;
}

bool fits(int points, bool single, const Limits& limits) {
  if (points < 2 || points > (1 << 14)) return false;
  int length = points;
  if (!has_radices(points)) length = prime(points) && has_radices(points - 1) ? points - 1 : 2 * points - 1;
  while (!has_radices(length)) ++length;
  const auto whole = static_cast<std::size_t>(length) * (single ? 8 : 16);
  return length <= kMostLength / (single ? 1 : 2) && whole / 2 <= limits.shared_bytes;
}

std::vector<LineChoice> candidates(const LineNeed& need, bool single, const Limits& limits,
                                   std::size_t most) {
  std::vector<Ranked> ranked;
  std::vector<int> lengths = fft_lengths(need.points, need.turned);
  if (need.extent > 0) std::erase_if(lengths, [&](int length) { return length != need.points; });
  for (const int length : lengths) {
    const Method method = *method_of(need.points, length, need.turned);
    for (std::vector<int> radices : factorisations(length, single)) {
      std::sort(radices.begin(), radices.end());
      do {
        if (need.exchanged && radices.size() < 2) continue;
        if (need.extent > 0 && LineChoice{.radices = radices}.radices_of_columns(need.extent) == 0) continue;
        const int points = (need.extent > 0 ? kMostOfGrid : kMostOfLine) / (single ? 1 : 2);
        for (const int threads : thread_counts(radices, length, points)) {
          const LineChoice line{.radices = radices, .threads = threads};
          if (line.registers() <= kMostRegisters / (single ? 1 : 2))
            variants(need, method, line, single, limits, ranked);
        }
      } while (std::next_permutation(radices.begin(), radices.end()));
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; });
  std::vector<LineChoice> chosen;
  std::map<int, std::size_t> of_length;
  std::map<std::size_t, std::size_t> of_passes;
  std::map<std::vector<int>, std::size_t> of_set;
  std::map<std::tuple<std::vector<int>, int, int, bool>, std::size_t> alike;
  for (const Ranked& candidate : ranked) {
    const LineChoice& line = candidate.line;
    std::vector<int> set = line.radices;
    std::sort(set.begin(), set.end());
    if (of_length[line.length()] * lengths.size() >= most || of_set[set] >= kOfSet ||
        5 * of_passes[set.size()] >= 3 * most ||
        alike[{set, line.threads, line.lines, line.staged}] >= kAlike)
      continue;
    ++of_length[line.length()];
    ++of_passes[set.size()];
    ++of_set[set];
    ++alike[{set, line.threads, line.lines, line.staged}];
    chosen.push_back(line);
    if (chosen.size() >= most) break;
  }
  return chosen;
}

}  // namespace sfft::detail::tuned
