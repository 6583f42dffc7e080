// SPDX-License-Identifier: Apache-2.0
// The arguments that the host passes to a generated kernel. Both sides read this file (run/executable.cpp,
// device/tile.cuh).
#pragma once

#include "kernels/cuda/spectrum/kept_part.cuh"

namespace sfft::device {

/// The tables of a step, in device memory. They hold complex numbers of the plan's precision unless noted
/// otherwise.
struct StepTables {
  const void* roots;        ///< exp(−2πi j/n); n is the length of an FFT
  const void* unpack_real;  ///< exp(−πi j/n), j <= n, for real lines of 2n points
  const void* coarse;   ///< exp(−2πi j 2^bits/N), for the twiddle factors between the steps of a line of
                        ///< N points
  const void* fine;     ///< exp(−2πi j/N), j < 2^bits
  const void* chirp;    ///< Bluestein: exp(−πi j²/n)
  const void* kernel;   ///< Bluestein, Rader: the FFT of the convolution kernel, as long as the FFT
  const void* gather;   ///< Rader: the element that is the q-th input, int
  const void* scatter;  ///< Rader: the element that is the q-th output, int
  const void* store;    ///< conflict-free: slots of elements in the order of loads from memory, int; `gather`
                        ///< then holds the slots of inputs
  const void* matrices;  ///< matrices of products on tensor cores (run/product_tables.hpp)
  const void* load;  ///< conflict-free: slots of elements in the order of stores to memory; `scatter` then
                     ///< holds the slots of outputs
};

struct Arguments {
  const void* input;
  void* output;
  void* scratch;
  long long first_group;                       ///< first group of this launch: a transform, a plane, …
  long long lines;                             ///< lines in total, for a step that has one per transform of
                                               ///< the batch
  unsigned tiles;                              ///< tiles of this launch
  unsigned early_blocks;                       ///< blocks that prefetch before the previous kernel ends
  unsigned resident_blocks;                    ///< blocks that the GPU holds at once
  unsigned multiprocessor_delay, block_delay;  ///< clock cycles, see KernelPolicy
  float per_multiprocessor;                    ///< 1/multiprocessors
  unsigned prefetch_distance;                  ///< distance in tiles to the one that a block prefetches
  double scale;                                ///< factor of the result
  StepTables tables;
  KeptPart kept;  ///< for a step that keeps only a part of its results
};

}  // namespace sfft::device
