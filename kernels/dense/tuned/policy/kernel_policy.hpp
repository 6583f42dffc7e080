// SPDX-License-Identifier: Apache-2.0
// The knobs of one kernel. The search chooses them, wisdom files store them, and the device templates read
// them as constants. The table in knobs.cpp has a row for each, with its range and the values that the search
// tries.
//
// NVRTC also compiles this file: C++17 without standard headers.
#pragma once

#include "kernels/dense/tuned/policy/int_list.hpp"

namespace sfft::detail::tuned {

/// Where the twiddle factors w^k of a butterfly come from. The k-th power of a rounded root has k times the
/// root's error. one_root: powers of w. two_roots: products of powers of w and a higher power, which halves a
/// transform's error for up to a tenth of its time. table: each factor is read, in the order in which threads
/// need them. fused: the same, but passes of radix 2, 4, 8, 16 and 32 fold the factors into the butterfly's
/// additions. Such a butterfly has fewer operations and reads half as many roots
/// (device/fused_butterfly.cuh).
enum class Twiddles { one_root, two_roots, table, fused };

/// How global memory is loaded. bypass_l1: no allocation in the L1 cache. prefetch_l2: a hint fetches the
/// neighbouring bytes into the L2 cache.
enum class Loads { cached, bypass_l1, prefetch_l2 };

/// A "transform" here is the FFT of one line. A block computes several of them at the same time.
struct KernelPolicy {
  IntList radices;  ///< radices of the FFT, first pass first
  int threads_per_transform = 1;
  int transforms_per_block = 1;
  /// In shared memory, the same points of different transforms are neighbours, rather than the points of one
  /// transform.
  bool interleaved_shared = false;
  /// Real and imaginary parts pass through shared memory one after the other, which halves the space.
  bool half_shared = false;
  /// Blocks load and store whole tiles in the order of memory and stage them in shared memory.
  bool staged = false;
  /// For staged tiles: neighbouring threads hold neighbouring transforms, not neighbouring points. With 16
  /// transforms an odd number of elements apart, no permutation meets a bank twice, and all of these threads
  /// read the same table entries.
  bool interleaved_threads = false;
  Twiddles twiddles = Twiddles::one_root;
  /// Bank padding: one element is left free after every pad_interval elements of a transform. 0: no padding.
  int pad_interval = 0;
  /// Bank padding: the number of elements left free between transforms or, if those are interleaved, between
  /// points.
  int pad = 0;
  Loads loads = Loads::cached;
  /// Data that the next kernels do not read again leave the caches first (evict-first loads and stores).
  bool streaming = false;
  int max_blocks_per_multiprocessor = 0;  ///< 0: as many as fit
  /// Once a block has loaded its tile, it prefetches a later one to the L2 cache. The distance is in per cent
  /// of the number of blocks that the GPU holds at once. 0: no prefetch.
  int prefetch_distance = 0;
  /// Clock cycles by which a multiprocessor's first blocks start one after the other, per block, so that they
  /// do not all load and then all compute.
  int block_delay = 0;
  /// The same for neighbouring multiprocessors: their starts are spread over this many cycles, in launches of
  /// several waves.
  int multiprocessor_delay = 0;
  /// Blocks prefetch their input to the L2 cache before the previous kernel in the stream ends (programmatic
  /// dependent launch); see Kernel::prefetches_early().
  bool early_prefetch = false;
  /// Blocks are persistent and copy the next tile to shared memory while they compute; see
  /// Kernel::double_buffers().
  bool double_buffered = false;
  /// A warp transforms 32/threads_per_transform lines by products on tensor cores (device/product_lines.cuh).
  /// The only radix is the length, whatever its factors.
  bool tensor_cores = false;

  constexpr int length() const { return radices.product(); }
  /// The number of points that a thread holds in registers.
  constexpr int registers() const {
    int max = 0;
    for (const int radix : radices) {
      const int points = (length() / radix + threads_per_transform - 1) / threads_per_transform * radix;
      if (points > max) max = points;
    }
    return max;
  }
  /// The number of passes over the columns of a grid of `rows` rows, which come before the passes over its
  /// rows. 0 means that these radices cannot transform such a grid.
  constexpr unsigned column_passes(int rows) const {
    unsigned count = 0;
    int product = 1;
    for (; count < radices.size() && product < rows; ++count) product *= radices[count];
    return product == rows && count < radices.size() ? count : 0;
  }
};

}  // namespace sfft::detail::tuned
