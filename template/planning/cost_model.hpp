// SPDX-License-Identifier: Apache-2.0
// Predicted execution times for comparing plans, in microseconds. Those for a CPU are fitted on one core of a
// current x86-64 server (docs/tuning.md). Only their rough ratios matter.
#pragma once

#include <cstdint>

#include "sfft/types.hpp"

namespace sfft::detail {

struct CombCost {
  std::int64_t points;   ///< N
  std::int64_t samples;  ///< r·B
  std::int64_t buckets;  ///< B
  std::int64_t delays;   ///< r
  std::int64_t lines;    ///< distinct cache lines touched, approximately
  std::int64_t k;
  bool real;
  std::int64_t sectors = 0;    ///< distinct 32-byte sectors that hold the samples, approximately
  std::int64_t bus_bytes = 0;  ///< size of the rows that cross the bus; 0: none do
};

double predict_comb_us(const CombCost& cost) noexcept;
/// Time of the `blocks` of a witness beyond the first.
double predict_witness_us(std::int64_t blocks, std::int64_t k) noexcept;
double predict_direct_us(std::int64_t points, std::int64_t k, bool real) noexcept;
/// Time of a full transform with the built-in dense engine.
double predict_dense_us(const Shape& shape, bool real) noexcept;

/// Time of a comb per frame on a GPU like the H200, in batches of `batch` with data in device memory
/// (docs/tuning.md). `compiled`: with kernels compiled for the plan if a cluster shares a frame.
double predict_comb_device_us(const CombCost& cost, int multiprocessors, int batch,
                              bool compiled = false) noexcept;
/// Weight of a plan's time against its error in batches of `batch` (CombRequest::time_weight).
double device_time_weight(int batch) noexcept;
/// The time per frame from samples in host memory to results there, if `bytes` of a frame cross the bus and
/// the GPU takes `device_us`. Transfers overlap with the transforms of other frames of the batch.
double predict_from_host_us(double device_us, std::int64_t bytes, int batch) noexcept;
/// The same for frames copied whole.
double predict_whole_from_host_us(double device_us, std::int64_t bytes, int batch) noexcept;
/// The time that a bus like the H200's takes for bytes in rows of a kilobyte or more.
double predict_bus_us(std::int64_t bytes) noexcept;
/// Time of a GPU's kernels for the `blocks` of a witness beyond the first; 0 if there are none.
double predict_witness_device_us(std::int64_t blocks, std::int64_t k) noexcept;
double predict_flat_device_us(std::int64_t taps, std::int64_t rows) noexcept;
double predict_direct_device_us(std::int64_t points, std::int64_t k) noexcept;
/// Time of a transform with cuFFT, or with kernels tuned for the shape; includes picking the support.
double predict_dense_device_us(const Shape& shape, bool real, int batch, bool tuned = false) noexcept;

}  // namespace sfft::detail
