// The tuner's candidates: factorisations, their order, threads, lines of a tile and padding (Nukada and
// Matsuoka 2009, section 4), ranked by a count of operations so that few have to be timed.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "kernels/dense/tuned/choice.hpp"

namespace sfft::detail::tuned {

namespace {

constexpr int kRadices[] = {17, 16, 15, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2};

/// Arithmetic of a butterfly, a point: 5 log2 R for powers of two, more for others.
double work(int radix) {
  static const std::map<int, double> kExtra{{3, 1.2},  {5, 1.4},  {6, 1.1},  {7, 1.7},  {9, 1.35}, {10, 1.2},
                                            {11, 2.6}, {12, 1.1}, {13, 2.9}, {15, 1.4}, {17, 3.8}};
  const auto extra = kExtra.find(radix);
  return 5 * std::log2(radix) * (extra == kExtra.end() ? 1 : extra->second);
}

/// Every multiset of radices with this product, largest first.
void factorise(int left, std::size_t first, std::vector<int>& chosen, std::vector<std::vector<int>>& all) {
  if (left == 1) {
    if (!chosen.empty()) all.push_back(chosen);
    return;
  }
  if (chosen.size() == 6) return;
  for (std::size_t i = first; i < std::size(kRadices); ++i) {
    if (left % kRadices[i] != 0) continue;
    chosen.push_back(kRadices[i]);
    factorise(left / kRadices[i], i, chosen, all);
    chosen.pop_back();
  }
}

std::vector<std::vector<int>> factorisations(int length) {
  std::vector<std::vector<int>> all;
  std::vector<int> chosen;
  factorise(length, 0, chosen, all);
  std::size_t fewest = 99;
  for (const auto& radices : all) fewest = std::min(fewest, radices.size());
  std::erase_if(all, [&](const auto& radices) { return radices.size() > fewest + 1; });
  return all;
}

/// Operations a point, with idle threads counted as busy ones; an exchange costs about as much as radix 8.
double cost(const LineChoice& line) {
  const int length = line.length();
  double sum = 14.0 * static_cast<double>(line.radices.size() - 1);
  for (const int radix : line.radices) {
    const int rounds = (length / radix + line.threads - 1) / line.threads;
    sum += work(radix) * rounds * line.threads * radix / length;
  }
  const int registers = line.registers();
  if (registers > 16) sum *= 1 + 0.04 * (registers - 16);
  if (registers < 6) sum *= 1 + 0.05 * (6 - registers);
  return sum;
}

struct Ranked {
  double cost;
  LineChoice line;
};

bool good(int length) {
  for (const int prime : {2, 3, 5, 7, 11, 13, 17}) {
    while (length % prime == 0) length /= prime;
  }
  return length == 1;
}

bool prime(int n) {
  for (int d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n > 2;
}

double best_cost(int length) {
  double best = 1e9;
  for (const auto& radices : factorisations(length)) {
    for (const int threads : thread_counts(radices, length, 32)) {
      best = std::min(best, cost({.radices = radices, .threads = threads}));
    }
  }
  return best;
}

std::size_t tile_bytes(const LineChoice& line, int points, bool single) {
  const int places = std::max(line.length(), points);
  const int padded = places + (line.pad_every > 0 ? places / line.pad_every : 0) + line.pad;
  return static_cast<std::size_t>(padded) *
         static_cast<std::size_t>(line.lines + (line.position_major ? line.pad : 0)) * (single ? 8 : 16) /
         (line.split ? 2 : 1);
}

/// How well loads of resident blocks cover the memory's latency, 1 at best, and what short runs of
/// neighbouring addresses cost. Calibrated on an H200: about 40 KiB under way on a multiprocessor give half
/// its bandwidth.
double memory_cost(const LineNeed& need, const LineChoice& line, bool single, const Limits& limits) {
  const int threads = (line.threads * line.lines + 31) / 32 * 32, points = line.registers();
  const int registers = std::min(255, (2 * points * (single ? 1 : 2) + 26 + 7) / 8 * 8);
  const auto shared = static_cast<int>(limits.shared_bytes / (tile_bytes(line, need.points, single) + 1024));
  const int blocks = std::min({65536 / (registers * threads), 2048 / threads, std::max(shared, 1), 32});
  if (blocks == 0) return 10;
  const double used = static_cast<double>(need.points) * line.lines * (single ? 8 : 16) * blocks;
  double cost = 1 + 40960.0 / used;
  if (blocks == 1) cost *= 1.3;
  if (need.by_line || need.exchanged) {
    const int run = line.lines * (single ? 8 : 16);
    if (run < 128) cost *= run < 64 ? 1.4 : 1.08;
  }
  return cost;
}

/// Lines of a tile that are worth a try.
std::vector<int> line_counts(const LineNeed& need, int threads, bool single) {
  const int values_of_line = single ? 16 : 8;  // 128 bytes
  std::vector<int> counts;
  if (need.by_line || need.exchanged) {
    counts = {values_of_line, values_of_line / 2, 2 * values_of_line, values_of_line / 4};
  } else {
    for (const int block : {64, 128, 256, 512}) {
      const int n = std::max(1, block / threads);
      counts.push_back(need.paired ? std::max(2, n / 2 * 2) : n);
    }
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  std::erase_if(counts,
                [&](int n) { return n * threads > kMostThreads || (need.lines > 0 && n > need.lines); });
  return counts;
}

/// The ways to put tiles of one line choice into memory.
void variants(const LineNeed& need, Method method, const LineChoice& base, bool single, const Limits& limits,
              std::vector<Ranked>& out) {
  const double arithmetic = cost(base) / 120;
  for (const int n : line_counts(need, base.threads, single)) {
    LineChoice line = base;
    line.lines = n;
    line.position_major = need.by_line && !need.exchanged;
    if (!line.position_major) line.pad_every = base.radices[0] % 2 == 0 ? base.radices[0] : 0;
    line.pad = need.exchanged ? 1 : 0;
    const bool rows = !need.by_line && !need.exchanged && !need.half;
    for (const bool staged : {false, true}) {
      if (staged != (rows && method == Method::rader) && (!rows || base.threads > 32 || !staged)) continue;
      line.staged = staged;
      line.split = false;
      if (tile_bytes(line, need.points, single) > limits.shared_bytes) {
        if (staged || need.half) continue;
        line.split = true;
        // The longest lines fit without padding only.
        if (n == 1 && tile_bytes(line, need.points, single) > limits.shared_bytes) line.pad_every = 0;
        if (tile_bytes(line, need.points, single) > limits.shared_bytes) continue;
      }
      out.push_back({arithmetic + memory_cost(need, line, single, limits), line});
    }
  }
}

}  // namespace

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

Method method_of(int points, bool turned, int& length) {
  length = points;
  if (good(points)) return Method::plain;
  if (!turned && prime(points) && good(points - 1)) {
    length = points - 1;
    return Method::rader;
  }
  const int least = 2 * points - 1;
  double best = 1e18;
  for (int m = least; m <= least + least / 6 + 8; ++m) {
    if (!good(m)) continue;
    if (const double total = best_cost(m) * m; total < best) {
      best = total;
      length = m;
    }
  }
  return Method::bluestein;
}

bool fits(int points, bool single, const Limits& limits) {
  int length = 0;
  if (points < 2 || points > (1 << 14)) return false;
  method_of(points, false, length);
  const auto whole = static_cast<std::size_t>(length) * (single ? 8 : 16);
  return length <= (1 << (single ? 15 : 14)) && whole / 2 <= limits.shared_bytes;
}

std::vector<LineChoice> candidates(const LineNeed& need, bool single, const Limits& limits,
                                   std::size_t most) {
  int length = 0;
  const Method method = method_of(need.points, need.turned, length);
  std::vector<Ranked> ranked;
  for (std::vector<int> radices : factorisations(length)) {
    std::sort(radices.begin(), radices.end());
    do {
      if (need.exchanged && radices.size() < 2) continue;
      for (const int threads : thread_counts(radices, length, single ? 32 : 16)) {
        variants(need, method, {.radices = radices, .threads = threads}, single, limits, ranked);
      }
    } while (std::next_permutation(radices.begin(), radices.end()));
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; });
  std::vector<LineChoice> chosen;
  std::map<std::tuple<std::vector<int>, int, int, bool>, int>
      orders;  // of one set of radices, threads and lines
  for (const Ranked& candidate : ranked) {
    std::vector<int> set = candidate.line.radices;
    std::sort(set.begin(), set.end());
    if (++orders[{set, candidate.line.threads, candidate.line.lines, candidate.line.staged}] > 2) continue;
    chosen.push_back(candidate.line);
    if (chosen.size() >= most) break;
  }
  return chosen;
}

}  // namespace sfft::detail::tuned
