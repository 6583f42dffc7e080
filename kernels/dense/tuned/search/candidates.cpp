// SPDX-License-Identifier: Apache-2.0
// Enumerates radices, threads and tiles. It ranks them by a model of arithmetic, exchanges and memory, and
// keeps the best of each kind.
#include "kernels/dense/tuned/search/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "kernels/base/radix/radices.hpp"
#include "kernels/dense/tuned/plan/grid.hpp"
#include "kernels/dense/tuned/plan/shared_layout.hpp"
#include "kernels/dense/tuned/policy/knobs.hpp"
#include "kernels/dense/tuned/search/bank_conflicts.hpp"
#include "kernels/dense/tuned/search/narrow_cost.hpp"
#include "kernels/dense/tuned/search/products.hpp"

namespace sfft::detail::tuned {

namespace {

constexpr std::size_t kBluesteinLengths = 2;  ///< number of lengths to try
constexpr std::size_t kAlike = 2;             ///< candidates that differ only in the order of their radices
constexpr std::size_t kOfSet = 8;             ///< candidates that share their radices
/// The factor for the cost of Rader's convolutions if their permutations have no bank conflicts (measured:
/// one half, at 1021 points).
constexpr double kConflictFree = 0.6;
/// Grids of at least this many points lose more to exchanges than to a low number of threads (measured).
constexpr int kLargeGrid = 2048;
/// Maximum points per thread in float. Tiles of grids are large.
constexpr int kMaxOfLine = 32, kMaxOfGrid = 48, kMaxOfNarrow = 48;
constexpr std::size_t kPadded = 96;  ///< 16-bit candidates whose bank conflicts are counted
constexpr int kCoalesced = 16;       ///< neighbouring points that one access to memory reads well

/// The arithmetic of a butterfly, per point.
double work(int radix) {
  const RadixRow* const row = find_radix(radix);
  return 5 * std::log2(radix) * (row == nullptr ? 1 : row->extra);
}

/// Every multiset of radices up to `largest` with this product, largest radix first.
void factorise(int left, int largest, std::vector<int>& chosen, std::vector<std::vector<int>>& all) {
  if (left == 1) {
    if (!chosen.empty()) all.push_back(chosen);
    return;
  }
  if (chosen.size() == 6) return;
  for (const auto& [radix, extra, first, second, narrow, block] : kRadices) {
    if (radix > largest || left % radix != 0) continue;
    chosen.push_back(radix);
    factorise(left / radix, radix, chosen, all);
    chosen.pop_back();
  }
}

/// Factorisations whose butterflies fit in a thread's registers: 40 floats, or 20 doubles. `narrow` allows 48
/// floats, which save a pass or its twiddle factors. Larger ones leave too few warps (measured).
std::vector<std::vector<int>> factorisations(int length, bool single, bool narrow = false) {
  std::vector<std::vector<int>> all;
  std::vector<int> chosen;
  factorise(length, narrow ? kMaxOfNarrow : single ? 40 : 20, chosen, all);
  std::size_t fewest = 99;
  for (const auto& radices : all) fewest = std::min(fewest, radices.size());
  std::erase_if(all, [&](const auto& radices) { return radices.size() > fewest + 1; });
  return all;
}

/// Operations per point, where idle threads count as busy ones. An exchange costs about as much as a radix-8
/// butterfly.
double cost(const KernelPolicy& kernel, bool large = false) {
  const int length = kernel.length();
  double sum = 14.0 * static_cast<double>(kernel.radices.size() - 1);
  for (const int radix : kernel.radices) {
    const int rounds = (length / radix + kernel.threads_per_transform - 1) / kernel.threads_per_transform;
    sum += work(radix) * rounds * kernel.threads_per_transform * radix / length;
  }
  const int registers = kernel.registers();
  if (registers > 16) sum *= 1 + (large ? 0.004 : 0.012) * (registers - 16);
  if (registers < 6) sum *= 1 + 0.05 * (6 - registers);
  return sum;
}

struct Ranked {
  double cost;
  KernelPolicy policy;
};

double best_cost(int length) {
  double best = 1e9;
  for (const auto& radices : factorisations(length, true)) {
    for (const int threads : thread_counts(IntList::of(radices), 32)) {
      best = std::min(best, cost({.radices = IntList::of(radices), .threads_per_transform = threads}));
    }
  }
  return best;
}

bool is_conflict_free(const KernelPolicy& kernel, Method method) {
  Step step;
  step.method = method;
  step.policy = kernel;
  return step.conflict_free();
}

std::size_t tile_bytes(const KernelPolicy& kernel, Method method, int points, bool single) {
  const int slots = is_conflict_free(kernel, method) ? conflict_free_slots(kernel, points, single)
                                                     : std::max(kernel.length(), points);
  const int padded = slots + (kernel.pad_interval > 0 ? slots / kernel.pad_interval : 0) + kernel.pad;
  return static_cast<std::size_t>(padded) *
         static_cast<std::size_t>(kernel.transforms_per_block +
                                  (kernel.interleaved_shared ? kernel.pad : 0)) *
         static_cast<std::size_t>(value_bytes(single)) / (kernel.half_shared ? 2 : 1);
}

bool has_fused_passes(const KernelPolicy& kernel) {
  return std::any_of(kernel.radices.begin() + 1, kernel.radices.end(),
                     [](int radix) { return is_fused(Twiddles::fused, radix); });
}

/// The cost of memory accesses: how well the loads of resident blocks hide the memory latency (1 at best),
/// times the cost of short runs of neighbouring addresses. Calibrated on an H200, where about 40 KiB in
/// flight per multiprocessor give half of its bandwidth.
double memory_cost(const LineNeed& need, Method method, const KernelPolicy& kernel, bool single,
                   const Limits& limits) {
  const int threads = (kernel.threads_per_transform * kernel.transforms_per_block + 31) / 32 * 32,
            points = kernel.registers();
  const int registers = std::min(255, (2 * points * (single ? 1 : 2) + 26 + 7) / 8 * 8);
  const auto shared =
      static_cast<int>(limits.shared_bytes / (tile_bytes(kernel, method, need.points, single) + 1024));
  const int blocks = std::min({65536 / (registers * threads), 2048 / threads, std::max(shared, 1), 32});
  if (blocks == 0) return 10;
  const double used =
      static_cast<double>(need.points) * kernel.transforms_per_block * value_bytes(single) * blocks;
  double cost = 1 + 40960.0 / used;
  if (blocks == 1) cost *= need.rows > 0 ? 1.1 : 1.3;  // blocks of grids prefetch
  if (need.interleaved || need.transposed) {
    const int run = kernel.transforms_per_block * value_bytes(single);
    if (run < 128) cost *= run < 64 ? 1.4 : 1.08;
  }
  return cost;
}

/// The cost of launches whose blocks leave multiprocessors idle. Fitted to bench_cuda_trials on an H200: with
/// it, the kernel that is first in rank takes 1.13 times as long as the fastest of 14 (geometric mean of 145
/// steps), without it 1.19 times.
double idle_cost(const LineNeed& need, const KernelPolicy& kernel, const Limits& limits) {
  constexpr double kExponent = 0.7;
  const std::int64_t blocks = (need.total + kernel.transforms_per_block - 1) / kernel.transforms_per_block;
  if (blocks == 0 || blocks >= limits.multiprocessors) return 1;
  return std::pow(static_cast<double>(limits.multiprocessors) / static_cast<double>(blocks), kExponent);
}

/// The numbers of transforms per block that are worth trying.
std::vector<int> transform_counts(const LineNeed& need, Method method, int threads, bool single) {
  const int banks = banks_of(single);
  std::vector<int> counts;
  if (need.interleaved || need.transposed) {
    counts = {banks, banks / 2, 2 * banks, banks / 4};
  } else {
    for (const int block : {64, 128, 256, 512}) {
      const int n = std::max(1, block / threads);
      counts.push_back(need.mirrored ? std::max(2, n / 2 * 2) : n);
    }
    if (method == Method::rader) counts.insert(counts.end(), {banks, 2 * banks});
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  std::erase_if(counts, [&](int n) {
    return n * threads > kMaxThreads || (need.lines > 0 && n > need.lines) ||
           (need.rows > 0 && need.lines % n != 0);
  });
  return counts;
}

/// Chooses padding by the number of bank conflicts. This takes too long to do for all candidates.
void pad(const LineNeed& need, bool single, const Limits& limits, Ranked& candidate) {
  KernelPolicy kernel = candidate.policy;
  pad_for_banks(kernel);
  const std::size_t tile = tile_bytes(kernel, Method::plain, need.points, single);
  if (tile > limits.shared_bytes) return;
  candidate = {narrow_cost(need, kernel, tile, limits, bank_conflicts(kernel)), kernel};
}

/// Adds the thread counts with which transforms lie within warps, if most threads have work.
void add_parts_of_warps(const IntList& radices, int max_registers, std::vector<int>& counts) {
  constexpr double kMaxIdle = 1.3;
  const int length = radices.product();
  for (const int threads : {2, 4, 8, 16, 32}) {
    double slots = 0;
    for (const int radix : radices) slots += (length / radix + threads - 1) / threads * threads * radix;
    const KernelPolicy kernel{.radices = radices, .threads_per_transform = threads};
    if (slots <= kMaxIdle * length * radices.size() && kernel.registers() <= max_registers &&
        std::find(counts.begin(), counts.end(), threads) == counts.end())
      counts.push_back(threads);
  }
}

/// Adds the ways to arrange the tiles of one FFT in memory.
void variants(const LineNeed& need, Method method, const KernelPolicy& base, bool single,
              const Limits& limits, std::vector<Ranked>& out) {
  const double arithmetic =
      cost(base, need.rows > 0 && base.length() >= kLargeGrid) / 120 * base.length() / need.points;
  for (const int n : transform_counts(need, method, base.threads_per_transform, single)) {
    KernelPolicy kernel = base;
    kernel.transforms_per_block = n;
    kernel.interleaved_shared = need.interleaved && !need.transposed;
    // The first pass stores radices[0] slots apart. Pad if that stride returns to the same banks.
    const int first = base.radices[0], banks = banks_of(single);
    if (kernel.interleaved_shared ? n < banks && first * n % banks == 0 : first % 2 == 0)
      kernel.pad_interval = first;
    // Grids pad what rows exchange. Tiles of neighbours leave the rest to the L1 cache (measured).
    if (need.rows > 0) {
      const int of_rows = kernel.radices[kernel.column_passes(need.rows)];
      kernel.pad_interval = need.interleaved || of_rows % 2 != 0 ? 0 : of_rows;
    }
    kernel.pad = need.transposed ? 1 : 0;
    if (need.narrow_bytes > 0)
      kernel.twiddles = has_fused_passes(kernel) ? Twiddles::fused : Twiddles::two_roots;
    const bool rows = !need.interleaved && !need.transposed && !need.half_spectra;
    for (const bool staged : {false, true}) {
      const bool needed = rows && method == Method::rader;
      if (staged != needed && !(staged && rows && base.threads_per_transform < kCoalesced)) continue;
      if (staged && need.rows > 0) continue;
      kernel.staged = staged;
      kernel.interleaved_threads = needed && n % banks == 0;
      kernel.half_shared = false;
      // This gains 2 % on average and 5 % for some lengths, but nothing for packed tiles (measured).
      kernel.prefetch_distance = need.narrow_bytes > 0 && !staged ? kUsualPrefetchDistance : 0;
      if (tile_bytes(kernel, method, need.points, single) > limits.shared_bytes) {
        if (staged || need.half_spectra) continue;
        kernel.half_shared = true;
        // The longest lines fit only without padding.
        if (n == 1 && tile_bytes(kernel, method, need.points, single) > limits.shared_bytes)
          kernel.pad_interval = 0;
        if (tile_bytes(kernel, method, need.points, single) > limits.shared_bytes) continue;
      }
      if (need.narrow_bytes > 0) {
        const std::size_t tile = tile_bytes(kernel, method, need.points, single);
        out.push_back({narrow_cost(need, kernel, tile, limits, 1), kernel});
        continue;
      }
      const int threads = base.threads_per_transform * n;
      const double idle = (threads + 31) / 32 * 32.0 / threads;
      const double work = arithmetic * (is_conflict_free(kernel, method) ? kConflictFree : 1);
      const double busy = work * idle + memory_cost(need, method, kernel, single, limits);
      out.push_back({busy * idle_cost(need, kernel, limits), kernel});
    }
  }
}

}  // namespace

std::vector<int> thread_counts(const IntList& radices, int max_registers) {
  const int length = radices.product();
  std::vector<int> counts;
  // A thread holds at least the points of one butterfly.
  const int max = std::max(max_registers, *std::max_element(radices.begin(), radices.end()));
  for (const int radix : radices) {
    for (int rounds = 1; rounds <= 8; ++rounds) {
      const int threads = (length / radix + rounds - 1) / rounds;
      if (threads > kMaxThreads || threads * max < length) continue;
      counts.push_back(threads);
    }
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

std::vector<int> fft_lengths(int points, bool twiddled) {
  if (has_radices(points)) return {points};
  std::vector<int> lengths;
  if (has_radices(points - 1) && method_of(points, points - 1, twiddled)) lengths.push_back(points - 1);
  const int min = 2 * points - 1;
  std::vector<std::pair<double, int>> ranked;
  for (int m = min; m <= std::min(min + min / 6 + 8, kMaxLength); ++m) {
    if (has_radices(m)) ranked.push_back({best_cost(m) * m, m});
  }
  std::sort(ranked.begin(), ranked.end());
  for (std::size_t i = 0; i < std::min(ranked.size(), kBluesteinLengths); ++i)
    lengths.push_back(ranked[i].second);
  return lengths;
}

std::vector<KernelPolicy> candidates(const LineNeed& need, bool single, const Limits& limits,
                                     std::size_t max) {
  std::vector<Ranked> ranked;
  std::vector<int> lengths = fft_lengths(need.points, need.twiddled);
  if (need.rows > 0) std::erase_if(lengths, [&](int length) { return length != need.points; });
  for (const int length : lengths) {
    const Method method = *method_of(need.points, length, need.twiddled);
    const bool narrow = need.narrow_bytes > 0;
    for (std::vector<int> radices : factorisations(length, single, narrow)) {
      std::sort(radices.begin(), radices.end());
      do {
        if (need.transposed && radices.size() < 2) continue;
        if (need.rows > 0 && KernelPolicy{.radices = IntList::of(radices)}.column_passes(need.rows) == 0)
          continue;
        const int points = (narrow          ? kMaxOfNarrow
                            : need.rows > 0 ? kMaxOfGrid
                                            : kMaxOfLine) /
                           (single ? 1 : 2);
        std::vector<int> counts = thread_counts(IntList::of(radices), points);
        if (narrow) add_parts_of_warps(IntList::of(radices), points, counts);
        for (const int threads : counts) {
          const KernelPolicy kernel{.radices = IntList::of(radices), .threads_per_transform = threads};
          if (kernel.registers() <= kMaxRegisters / (single ? 1 : 2))
            variants(need, method, kernel, single, limits, ranked);
        }
      } while (std::next_permutation(radices.begin(), radices.end()));
    }
  }
  const auto sort = [&ranked] {
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; });
  };
  sort();
  if (need.narrow_bytes > 0) {
    if (ranked.size() > kPadded) ranked.resize(kPadded);
    for (Ranked& candidate : ranked) pad(need, single, limits, candidate);
  }
  // The costs of convolutions are not microseconds; they take longer (measured).
  const double unit = need.narrow_bytes > 0 ? 1 : 1e-9;
  for (const KernelPolicy& kernel : products(need, limits))
    ranked.push_back({unit * product_cost(kernel), kernel});
  if (need.narrow_bytes > 0 || need.products) sort();
  std::vector<KernelPolicy> chosen;
  std::map<int, std::size_t> of_length;
  std::map<std::size_t, std::size_t> of_passes;
  std::map<std::vector<int>, std::size_t> of_set;
  std::map<std::tuple<std::vector<int>, int, int, bool>, std::size_t> alike;
  for (const Ranked& candidate : ranked) {
    const KernelPolicy& kernel = candidate.policy;
    std::vector<int> set(kernel.radices.begin(), kernel.radices.end());
    std::sort(set.begin(), set.end());
    if (of_length[kernel.length()] * lengths.size() >= max || of_set[set] >= kOfSet ||
        5 * of_passes[set.size()] >= 3 * max ||
        alike[{set, kernel.threads_per_transform, kernel.transforms_per_block, kernel.staged}] >= kAlike)
      continue;
    ++of_length[kernel.length()];
    ++of_passes[set.size()];
    ++of_set[set];
    ++alike[{set, kernel.threads_per_transform, kernel.transforms_per_block, kernel.staged}];
    chosen.push_back(kernel);
    if (chosen.size() >= max) break;
  }
  return chosen;
}

}  // namespace sfft::detail::tuned
