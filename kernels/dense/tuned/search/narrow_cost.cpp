// SPDX-License-Identifier: Apache-2.0
// Counts instructions, bytes through shared memory and bytes of global memory, and estimates how they
// overlap.
#include "kernels/dense/tuned/search/narrow_cost.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/radix/radices.hpp"
#include "kernels/dense/tuned/plan/shared_layout.hpp"

namespace sfft::detail::tuned {

namespace {

/// Instructions per point, counted in the machine code of sm_90: a butterfly's instructions divided by its
/// operations; loads, conversions and stores; an exchange; twiddle factors that are read; two copies of a
/// staged tile; and one-time work of a thread.
constexpr double kOfButterfly = 0.53, kOfMemory = 6, kOfExchange = 4, kOfRoots = 5, kOfStage = 2.5,
                 kOfThread = 75;

/// Instructions per point of a line, where idle threads count as busy ones.
double instructions(const KernelPolicy& kernel) {
  const int length = kernel.length(), threads = kernel.threads_per_transform;
  double sum = kOfMemory + (kernel.staged ? kOfStage : 0);
  for (unsigned pass = 0; pass < kernel.radices.size(); ++pass) {
    const int radix = kernel.radices[pass], rounds = (length / radix + threads - 1) / threads;
    const double bits = std::log2(radix), idle = static_cast<double>(rounds) * threads * radix / length;
    double own = kOfButterfly * 5 * bits * find_radix(radix)->extra;
    if (pass > 0) {
      own = kOfExchange + (is_fused(kernel.twiddles, radix)   ? 3 * bits + 0.5
                           : reads_all_roots(kernel.twiddles) ? own + kOfRoots
                                                              : own + std::max(2.0, 8 - 16.0 / radix));
    }
    sum += own * idle;
  }
  const double lanes = kernel.threads_per_transform * kernel.transforms_per_block;
  return (sum + kOfThread / kernel.registers()) * (std::ceil(lanes / 32) * 32 / lanes);
}

/// Registers of a thread. Fused radix-32 butterflies also hold their roots.
int registers_of(const KernelPolicy& kernel) {
  const bool roots = kernel.twiddles == Twiddles::fused &&
                     std::find(kernel.radices.begin() + 1, kernel.radices.end(), 32) != kernel.radices.end();
  return std::min(255, (2 * kernel.registers() + (roots ? 62 : 30) + 7) / 8 * 8);
}

/// The cost of accesses where few threads load neighbours at once. This concerns whole lines without a stage,
/// and stages where each thread holds many points.
double short_loads(const KernelPolicy& kernel) {
  const int threads = kernel.threads_per_transform;
  if (kernel.staged && threads >= 8) return kernel.registers() > 30 ? 1.2 : 1;
  return kernel.staged || threads >= 16 ? 1 : threads < 8 ? 1.6 : 1.12;
}

}  // namespace

double narrow_cost(const LineNeed& need, const KernelPolicy& kernel, std::size_t shared_bytes,
                   const Limits& limits, double conflicts) {
  // Microseconds for 2^25 points of one instruction per point, one byte per point through shared memory, and
  // one byte through global memory. These partly overlap.
  constexpr double kIssue = 1.0, kShared = 1.0, kMemory = 7.8, kOverlap = 2.6;
  // Factors for warps that wait for others, for too few warps, for last rounds that some threads skip, and
  // for blocks that are alone on a multiprocessor.
  constexpr double kOfBarriers = 1.04, kOfWarp = 0.018, kOfPartial = 1.05, kOfAlone = 1.1;
  constexpr int kEnoughWarps = 20;
  // A stage moves half the bytes. With fewer than four threads per transform, it has bank conflicts.
  const double stage = kernel.staged ? 0.5 * std::max(1.0, 4.0 / kernel.threads_per_transform) : 0;
  const double exchanges = static_cast<double>(kernel.radices.size()) - 1 + stage;
  const double issue = kIssue * instructions(kernel), shared = kShared * (8 + 16 * exchanges * conflicts),
               memory = kMemory * need.narrow_bytes;
  const double together = std::pow(
      std::pow(issue, kOverlap) + std::pow(shared, kOverlap) + std::pow(memory, kOverlap), 1 / kOverlap);

  const int threads = (kernel.threads_per_transform * kernel.transforms_per_block + 31) / 32 * 32,
            registers = registers_of(kernel),
            fit = static_cast<int>(limits.shared_bytes / (shared_bytes + 1024)),
            blocks = std::min({65536 / (registers * threads), 2048 / threads, fit, kMaxBlocks});
  const int warps = blocks * threads / 32;
  const bool within_warp = 32 % kernel.threads_per_transform == 0;
  const int outputs = kernel.length() / kernel.radices.back();
  const bool partial =
      !kernel.staged && outputs > kernel.threads_per_transform && outputs % kernel.threads_per_transform != 0;
  return together * (within_warp ? 1 : std::pow(kOfBarriers, kernel.radices.size() > 2 ? 3 : 1)) *
         (partial ? kOfPartial : 1) * (1 + kOfWarp * std::max(0, kEnoughWarps - warps)) *
         short_loads(kernel) *
         (blocks == 0   ? 10
          : blocks == 1 ? kOfAlone
                        : 1);
}

}  // namespace sfft::detail::tuned
