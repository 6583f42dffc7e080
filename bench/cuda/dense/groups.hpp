// SPDX-License-Identifier: Apache-2.0
// The measurements of bench_cuda_dense. Each returns a row of bench/results/h200/dense.json.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/cuda/dense/case.hpp"
#include "bench/cuda/timing.hpp"
#include "sfft/dense.hpp"

namespace sfft::bench {

struct DenseSettings {
  dense::Options::Planning planning = dense::Options::Planning::measure;
  bool automatic_only = false;     ///< leaves out the engine `tuned` by itself
  double copy_bandwidth_tb_s = 0;  ///< bytes read and written by the fastest copy of this run
};

/// Times one problem with the library (its tuned kernels, and the choice of `automatic`), cuFFT and VkFFT.
/// Each runs out of place and, if possible, in place; the better time counts. A candidate that is missing,
/// cannot plan, or has a wrong result gets a reason instead of a time.
nlohmann::json time_dense(Timer& timer, const DenseCase& what, const DenseSettings& settings);

/// Nukada & Matsuoka (2009), table 11: a 3D transform of `batch` cubes of n^3 in host memory. Plan::forward
/// overlaps the transfers. The row compares it with copy, transform and copy one after another, and with the
/// copies alone. Times are wall clock.
nlohmann::json time_host_cubes(std::int64_t n, std::int64_t batch, const DenseSettings& settings);
std::string host_cubes_name(std::int64_t n, std::int64_t batch);

/// Times dense::SelectivePlan, which keeps either the coefficients above a magnitude that one in a thousand
/// exceeds, or those at a support of 1000. It runs with the tuned kernels, which store no spectrum, and with
/// cuFFT, whose spectrum is searched afterwards.
nlohmann::json time_selection(Timer& timer, const DenseCase& what, const DenseSettings& settings);
std::string selection_name(const DenseCase& what);

/// The rate of copies with the access pattern of a two-pass transform with lines of 2^(bits/2) points:
/// columns of a square matrix, copied by blocks and by clusters of blocks.
nlohmann::json time_memory(Timer& timer, int bits);
std::string memory_name(int bits);

/// Nukada & Matsuoka (2009), figures 8 and 9: the effect of shared-memory padding and of the order of
/// radices. There is one entry per kernel that the tuner tries for batched lines of length n.
nlohmann::json time_tuning_trials(std::int64_t n, const DenseSettings& settings);
std::string tuning_trials_name(std::int64_t n);

}  // namespace sfft::bench
