// SPDX-License-Identifier: Apache-2.0
// Makes inputs and checks results of the dense benchmarks on the GPU. All pointers are to device memory.
// Calls return when the work is done unless they take a stream.
#pragma once

#include <cuda_runtime.h>

#include <complex>
#include <cstdint>
#include <vector>

#include "bench/cuda/peers.hpp"

namespace sfft::bench {

/// Random numbers that depend only on the index: uniform in [-1, 1), or bytes in 0..255.
template <class T>
void fill_random(T* out, std::int64_t count);

/// out[i] = scale · in[i] for real numbers. A complex number counts as two.
template <class To, class From>
void convert(const From* in, To* out, std::int64_t count, double scale, cudaStream_t stream);

/// Copies in units of 16 bytes with a plain kernel, which is faster than cudaMemcpy on some GPUs.
void copy_by_kernel(const void* from, void* to, std::size_t bytes, cudaStream_t stream);

struct Difference {
  double squares = 0;            ///< Σ (got − truth)²
  double reference_squares = 0;  ///< Σ truth²
  double largest = 0;            ///< max |got − truth|; NaN if any value is NaN
};
/// Compares `rows` rows of `row` real numbers. Rows of `truth` are contiguous; rows of `got` are `pitch`
/// apart.
template <class Real>
Difference difference(const Real* got, std::int64_t pitch, const double* truth, std::int64_t row,
                      std::int64_t rows);

/// Computes outputs of the problem from their defining sums, in double and without an FFT. Phases are exact
/// in integers. `positions` are linear indices into a contiguous output batch. Real outputs have no imaginary
/// part.
template <class Real>
std::vector<std::complex<double>> direct_sums(const PeerProblem& problem, const Real* input,
                                              const std::vector<std::int64_t>& positions);

}  // namespace sfft::bench
