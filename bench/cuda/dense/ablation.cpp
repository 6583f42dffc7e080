// SPDX-License-Identifier: Apache-2.0
// Times every kernel that the tuner would try for one batched length, and records its policy.
#include <fmt/format.h>

#include "bench/cuda/dense/groups.hpp"
#include "kernels/dense/tuned/search/tuner.hpp"

namespace sfft::bench {

using nlohmann::json;

std::string tuning_trials_name(std::int64_t n) {
  return fmt::format("1D C2C {}, kernels tried", n);
}

json time_tuning_trials(std::int64_t n, const DenseSettings& settings) {
  const DenseCase what = batched_lines("ablation", n);
  sfft::detail::DenseProblem problem;
  problem.shape = Shape{n};
  problem.batch = what.problem.batch;
  problem.strides = {{1, 0, 0}, n};
  json row{{"group", "ablation"},
           {"name", tuning_trials_name(n)},
           {"n", n},
           {"batch", problem.batch},
           {"trials", json::array()}};
  const double pass_us = static_cast<double>(what.min_bytes()) / settings.copy_bandwidth_tb_s * 1e-6;
  for (const sfft::detail::TunedTrial& trial : sfft::detail::tuned_trials(problem)) {
    row["trials"].push_back({{"kernel", trial.kernel},
                             {"radices", trial.radices},
                             {"pad", trial.pad},
                             {"threads", trial.threads},
                             {"us", trial.us},
                             {"passes", trial.us / pass_us},
                             {"gflops", what.operations() / trial.us * 1e-3},
                             {"correct", trial.correct}});
  }
  return row;
}

}  // namespace sfft::bench
