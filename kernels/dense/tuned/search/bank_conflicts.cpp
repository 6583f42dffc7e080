// SPDX-License-Identifier: Apache-2.0
// Visits the accesses of the first warps in half-warps: 16 banks of 8 bytes each.
#include "kernels/dense/tuned/search/bank_conflicts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace sfft::detail::tuned {

namespace {

constexpr int kBanks = 16, kWarp = 32;

struct Count {
  std::int64_t taken = 0, accesses = 0;
};

/// Visits the access to point k of every butterfly, at position_of(butterfly, k) of its line.
template <class Position>
void visit(const KernelPolicy& kernel, int radix, const Position& position_of, Count& count) {
  const int threads = kernel.threads_per_transform, all = threads * kernel.transforms_per_block,
            butterflies = kernel.length() / radix, interval = kernel.pad_interval;
  const auto padded = [interval](int position) {
    return interval > 0 ? position + position / interval : position;
  };
  const int pitch = padded(kernel.length() - 1) + 1 + kernel.pad;
  constexpr int kVisited = 2 * kWarp;  // threads; their pattern of accesses repeats
  for (int first = 0; first < std::min(all, kVisited); first += kBanks) {
    for (int round = 0; round * threads < butterflies; ++round) {
      for (int k = 0; k < radix; ++k) {
        std::array<int, kBanks> met{};
        int max = 0;
        for (int id = first; id < std::min(first + kBanks, all); ++id) {
          const int butterfly = id % threads + round * threads;
          if (butterfly >= butterflies) continue;
          const int slot = id / threads * pitch + padded(position_of(butterfly, k));
          max = std::max(max, ++met[static_cast<std::size_t>(slot % kBanks)]);
        }
        count.taken += max;
        count.accesses += max > 0 ? 1 : 0;
      }
    }
  }
}

}  // namespace

double bank_conflicts(const KernelPolicy& kernel) {
  Count count;
  for (unsigned pass = 0; pass + 1 < kernel.radices.size(); ++pass) {
    const int radix = kernel.radices[pass], next = kernel.radices[pass + 1],
              before = kernel.radices.product(pass), apart = kernel.length() / next;
    visit(
        kernel, radix, [&](int j, int k) { return j / before * before * radix + j % before + k * before; },
        count);
    visit(
        kernel, next, [&](int j, int k) { return j + k * apart; }, count);
  }
  return count.accesses == 0 ? 1 : static_cast<double>(count.taken) / static_cast<double>(count.accesses);
}

void pad_for_banks(KernelPolicy& kernel) {
  constexpr double kAlike = 0.02;
  const int first = kernel.radices[0];
  KernelPolicy best = kernel;
  double fewest = 1e9;
  for (const int interval : {0, kBanks, kBanks / 2, 2 * kBanks, first}) {
    for (const int pad : {0, 1, 2, 4, 8}) {
      if (pad > 0 && kernel.transforms_per_block == 1) continue;
      KernelPolicy tried = kernel;
      tried.pad_interval = interval;
      tried.pad = pad;
      const double conflicts = bank_conflicts(tried);
      if (conflicts < fewest - kAlike) {
        fewest = conflicts;
        best = tried;
      }
    }
  }
  kernel = best;
}

}  // namespace sfft::detail::tuned
