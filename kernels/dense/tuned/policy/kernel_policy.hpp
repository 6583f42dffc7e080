// SPDX-License-Identifier: Apache-2.0
// The knobs of one kernel: what the search chooses, what wisdom files keep, and what the device code's
// templates read as constants. Their ranges, and what the search tries, are rows of the table in knobs.cpp.
//
// Compiled by NVRTC, too: C++17 without standard headers.
#pragma once

#include "kernels/dense/tuned/policy/int_list.hpp"

namespace sfft::detail::tuned {

/// Where the twiddle factors w^k of a butterfly come from. The k-th power of a rounded root is k times as
/// wrong as the root: powers of two roots, w and a higher one, halve a transform's error, for up to a tenth
/// of its time. table: each factor is read, in the order in which threads need them. fused: the same, but in
/// passes of radix 2, 4, 8, 16 and 32 they are part of the butterfly's additions, which then has fewer
/// operations and reads half as many roots (device/fused_butterfly.cuh).
enum class Twiddles { one_root, two_roots, table, fused };

/// How global memory is loaded. bypass_l1: without allocating in the L1 cache. prefetch_l2: with a hint that
/// fetches the neighbouring bytes into the L2 cache.
enum class Loads { cached, bypass_l1, prefetch_l2 };

/// A "transform" here is the FFT of one line; a block computes several side by side.
struct KernelPolicy {
  IntList radices;  ///< of the FFT, first pass first
  int threads_per_transform = 1;
  int transforms_per_block = 1;
  /// In shared memory the same point of different transforms lies side by side, not the points of one
  /// transform.
  bool interleaved_shared = false;
  /// Real and imaginary parts pass through shared memory one after the other, in half the space.
  bool half_shared = false;
  /// Blocks load and store whole tiles in the order of memory, by way of shared memory.
  bool staged = false;
  /// For staged tiles: neighbouring threads hold neighbouring transforms, not neighbouring points. With 16
  /// transforms an odd number of elements apart no permutation meets a bank twice, and all of these threads
  /// read the same table entries.
  bool interleaved_threads = false;
  Twiddles twiddles = Twiddles::one_root;
  /// Bank padding: one element is left free after every pad_interval elements of a transform; 0: never.
  int pad_interval = 0;
  /// Bank padding: elements left free between transforms or, if those are interleaved, between points.
  int pad = 0;
  Loads loads = Loads::cached;
  /// What the next kernels do not read again leaves the caches first (evict-first loads and stores).
  bool streaming = false;
  int max_blocks_per_multiprocessor = 0;  ///< 0: as many as fit
  /// Once a block has loaded its tile, it prefetches a later one to the L2 cache: this many per cent of the
  /// blocks that the GPU holds ahead. 0: it does not.
  int prefetch_distance = 0;
  /// Clock cycles by which the first block of a multiprocessor starts after that of the one before, so that
  /// not all of them load, then all compute: per block of the same multiprocessor.
  int block_delay = 0;
  /// The same for neighbouring multiprocessors: their starts spread over this many cycles, in launches of
  /// several waves.
  int multiprocessor_delay = 0;
  /// Before the previous kernel in the stream ends, blocks prefetch their input to the L2 cache (programmatic
  /// dependent launch); see Kernel::prefetches_early().
  bool early_prefetch = false;
  /// Blocks stay for many tiles and copy the next one to shared memory while they compute; see
  /// Kernel::double_buffers().
  bool double_buffered = false;
  /// A warp transforms 32/threads_per_transform lines by products on tensor cores (device/product_lines.cuh).
  /// The only radix is the length, whatever its factors.
  bool tensor_cores = false;

  constexpr int length() const { return radices.product(); }
  /// Points that a thread holds in registers.
  constexpr int registers() const {
    int max = 0;
    for (const int radix : radices) {
      const int points = (length() / radix + threads_per_transform - 1) / threads_per_transform * radix;
      if (points > max) max = points;
    }
    return max;
  }
  /// Passes over the columns of a grid of `rows` rows, which come before those over its rows; 0: these
  /// radices cannot transform such a grid.
  constexpr unsigned column_passes(int rows) const {
    unsigned count = 0;
    int product = 1;
    for (; count < radices.size() && product < rows; ++count) product *= radices[count];
    return product == rows && count < radices.size() ? count : 0;
  }
};

}  // namespace sfft::detail::tuned
