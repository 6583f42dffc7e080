// SPDX-License-Identifier: Apache-2.0
// What the host hands to a generated kernel; read by both sides (executable.cpp, step.cuh).
#pragma once

#include "kernels/cuda/kept_part.cuh"

namespace sfft::device {

/// Bytes that steps which read ahead copy to shared memory at once.
constexpr int kWord = 16;

/// Tables of a step, in device memory, complex numbers of the plan's precision unless it says otherwise.
struct StepTables {
  const void* roots;     ///< exp(−2πi j/n), n the length of a line
  const void* untangle;  ///< exp(−πi j/n), j <= n, of real lines of 2n points
  const void* coarse;    ///< exp(−2πi j 2^bits/N), between the steps of a long line of N points
  const void* fine;      ///< exp(−2πi j/N), j < 2^bits
  const void* chirp;     ///< Bluestein: exp(−πi j²/n)
  const void* kernel;    ///< Bluestein, Rader: FFT of what is convolved with, over the length of the FFT
  const void* gather;    ///< Rader: element of the q-th input, int
  const void* scatter;   ///< Rader: element of the q-th output, int
  const void* store;  ///< of a step with places (places.hpp): where elements go that are read, int; `gather`
                      ///< says where inputs are then
  const void* load;   ///< … where elements are that are written; `scatter` says where outputs go
};

struct Arguments {
  const void* input;
  void* output;
  void* scratch;
  long long first_group;     ///< of this launch: transforms, planes, …
  long long lines;           ///< of a step that has as many as the batch
  unsigned tiles;            ///< of this launch
  unsigned early;            ///< blocks that prefetch, where a step begins early
  unsigned resident;         ///< blocks that the GPU holds at once
  unsigned spread, stagger;  ///< clock cycles, where a step delays blocks (program.hpp)
  float per_multiprocessor;  ///< 1/multiprocessors
  unsigned distance;         ///< to the tile that a block prefetches, where a step does
  double scale;              ///< of the result
  StepTables tables;
  KeptPart kept;  ///< of a step that keeps a part of its results
};

}  // namespace sfft::device
