// SPDX-License-Identifier: Apache-2.0
// Where the points of a tile lie in shared memory: bank padding, pitches, and sizes. The host, which checks
// what fits, and the device code share this file.
//
// NVRTC also compiles this file: C++17 without standard headers.
#pragma once

#include "kernels/dense/tuned/plan/step.hpp"

namespace sfft::detail::tuned {

/// Bytes per asynchronous copy to shared memory.
constexpr int kCopyBytes = 16;

constexpr int value_bytes(bool single) {
  return single ? 8 : 16;
}

/// The number of banks, each of which holds one complex number.
constexpr int banks_of(bool single) {
  return 128 / value_bytes(single);
}

/// The number of groups that `threads` form, with one thread per bank in each.
constexpr int bank_groups(int threads, int banks) {
  return (threads + banks - 1) / banks;
}

/// Whether a pass folds its twiddle factors into its additions.
constexpr bool is_fused(Twiddles twiddles, int radix) {
  return twiddles == Twiddles::fused &&
         (radix == 2 || radix == 4 || radix == 8 || radix == 16 || radix == 32);
}
/// Whether passes read all their roots, in the order in which threads need them.
constexpr bool reads_all_roots(Twiddles twiddles) {
  return twiddles == Twiddles::table || twiddles == Twiddles::fused;
}

/// The roots that a pass reads: `before` of each kind, one for every position of a butterfly in its group. A
/// fused butterfly has radix/2 kinds; any other has one for each input except the first. They follow the
/// roots of the FFT in its table, pass by pass, beginning at `first`.
struct PassRoots {
  int before = 1, kinds = 0, first = 0;
  constexpr int count() const { return before * kinds; }
};
/// The roots of one pass. `rows` is that of a grid, whose second dimension begins again with 1; 0 means one
/// dimension.
constexpr PassRoots pass_roots(const IntList& radices, Twiddles twiddles, int rows, unsigned pass,
                               int first) {
  PassRoots found{1, 0, first};
  for (unsigned i = 0; i <= pass; ++i) {
    const int before = radices.product(i), radix = radices[i];
    found.first += found.count();
    found.before = rows > 0 && before >= rows ? before / rows : before;
    found.kinds = found.before == 1 ? 0 : is_fused(twiddles, radix) ? radix / 2 : radix - 1;
  }
  return found;
}

/// Slots between neighbours in each dimension of the grid on which a DFT with one dimension per radix is
/// computed in place. `conflict_free`: in all passes except its own, neighbouring threads hold neighbours in
/// the first dimension. Its stride is then chosen so that these threads and the next ones meet every bank
/// once.
constexpr IntList grid_strides(const IntList& radices, bool conflict_free, bool single) {
  IntList strides = radices;
  strides.back() = 1;
  for (unsigned d = radices.size() - 1; d-- > 0;) strides[d] = radices[d + 1] * strides[d + 1];
  const int first = radices[0], banks = banks_of(single);
  if (!conflict_free || (first % 2 == 0 && banks % first != 0)) return strides;
  const auto meets_all = [first, banks](int stride) {
    return first % 2 == 1 ? first * stride % banks == 1 : stride % banks == banks / first;
  };
  while (!meets_all(strides[0])) ++strides[0];
  return strides;
}

/// Slots of a transform with conflict-free permutations: enough for the permutations and for its grid.
constexpr int conflict_free_slots(const KernelPolicy& policy, int points, bool single) {
  const int banks = banks_of(single), threads = policy.threads_per_transform,
            rounds = (points + threads - 1) / threads, first = policy.radices[0],
            rest = policy.length() / first, permuted = rounds * bank_groups(threads, banks) * banks,
            grid = (first - 1) * grid_strides(policy.radices, true, single)[0] + rest;
  return permuted > grid ? permuted : grid;
}

/// Slots of one transform, including bank padding.
constexpr int slots_of_transform(const Step& step, bool single) {
  const KernelPolicy& policy = step.policy;
  if (step.conflict_free()) return conflict_free_slots(policy, step.points, single);
  const int length = policy.length(), points = length > step.points ? length : step.points;
  if (step.twiddle_free() || policy.pad_interval == 0) return points;
  return points + (points - 1) / policy.pad_interval;
}

/// Slots from one transform to the next.
constexpr int transform_pitch(const Step& step, bool single) {
  return slots_of_transform(step, single) + step.policy.pad;
}

/// Values from one line to the next in a packed tile (Step::packs). Lines of whole words are padded by words,
/// as far as the exchange memory allows. Threads that hold the same points of different lines then rarely
/// meet in a bank.
constexpr int packed_pitch(const Step& step, bool single) {
  constexpr int kBanks = 32, kWord = kCopyBytes / 4;
  const int points = step.points, threads = step.policy.threads_per_transform,
            room = 2 * transform_pitch(step, single);
  if (points % kWord != 0 || threads >= kBanks || step.interleaves_threads()) return points;
  int best = points, fewest = kBanks + 1;
  for (int pitch = points; pitch < points + kBanks && pitch <= room; pitch += kWord) {
    int met[kBanks] = {}, max = 0;
    for (int lane = 0; lane < kBanks; ++lane) {
      const int bank = (lane / threads * pitch + lane % threads) % kBanks;
      if (++met[bank] > max) max = met[bank];
    }
    if (max < fewest) {
      best = pitch;
      fewest = max;
    }
  }
  return best;
}

/// The bytes of shared memory through which threads exchange a tile.
constexpr int exchange_bytes(const Step& step, bool single) {
  const KernelPolicy& policy = step.policy;
  if (!step.stages() && policy.radices.size() == 1) return 0;
  const int slots = policy.interleaved_shared
                        ? slots_of_transform(step, single) * (policy.transforms_per_block + policy.pad)
                        : transform_pitch(step, single) * policy.transforms_per_block;
  const int bytes = slots * value_bytes(single) / (policy.half_shared && !step.stages() ? 2 : 1);
  return (bytes + kCopyBytes - 1) / kCopyBytes * kCopyBytes;
}

}  // namespace sfft::detail::tuned
