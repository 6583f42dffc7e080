// SPDX-License-Identifier: Apache-2.0
// What the host hands to a generated kernel; read by both sides (run/executable.cpp, device/tile.cuh).
#pragma once

#include "kernels/cuda/spectrum/kept_part.cuh"

namespace sfft::device {

/// Tables of a step, in device memory: complex numbers of the plan's precision unless noted otherwise.
struct StepTables {
  const void* roots;        ///< exp(−2πi j/n), n the length of an FFT
  const void* unpack_real;  ///< exp(−πi j/n), j <= n, for real lines of 2n points
  const void* coarse;       ///< exp(−2πi j 2^bits/N), between the steps of a long line of N points
  const void* fine;         ///< exp(−2πi j/N), j < 2^bits
  const void* chirp;        ///< Bluestein: exp(−πi j²/n)
  const void* kernel;       ///< Bluestein, Rader: FFT of the convolution's kernel, over the length of the FFT
  const void* gather;       ///< Rader: element of the q-th input, int
  const void* scatter;      ///< Rader: element of the q-th output, int
  const void* store;  ///< conflict-free: the slots of elements as they are loaded from memory, int; `gather`
                      ///< holds the slots of inputs then
  const void* matrices;  ///< of products on tensor cores (run/product_tables.hpp)
  const void* load;  ///< … of elements as they are stored to memory; `scatter` holds the slots of outputs
};

struct Arguments {
  const void* input;
  void* output;
  void* scratch;
  long long first_group;                       ///< of this launch: transforms, planes, …
  long long lines;                             ///< for a step that has as many as the batch
  unsigned tiles;                              ///< of this launch
  unsigned early_blocks;                       ///< blocks that prefetch before the previous kernel ends
  unsigned resident_blocks;                    ///< that the GPU holds at once
  unsigned multiprocessor_delay, block_delay;  ///< clock cycles, see KernelPolicy
  float per_multiprocessor;                    ///< 1/multiprocessors
  unsigned prefetch_distance;                  ///< to the tile that a block prefetches
  double scale;                                ///< of the result
  StepTables tables;
  KeptPart kept;  ///< for a step that keeps a part of its results
};

}  // namespace sfft::device
