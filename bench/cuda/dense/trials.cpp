// SPDX-License-Identifier: Apache-2.0
// Times many kernels for each step of drawn transforms: the data to which the ranking of kernels was fitted.
//   bench_cuda_trials --out FILE.json [--count N] [--seed N] [--max-points N]
//   bench_cuda_trials --compile I/N …    compiles every N-th kernel for SFFT_CACHE and times nothing
// NVRTC parses one source at a time in a process, so N processes compile first, and then one times.
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

#include "bench/command_line.hpp"
#include "bench/cuda/dense/case.hpp"
#include "bench/result_file.hpp"
#include "kernels/dense/problem/problem.hpp"
#include "kernels/dense/tuned/codegen/source.hpp"
#include "kernels/dense/tuned/policy/policy_text.hpp"
#include "kernels/dense/tuned/search/candidates.hpp"
#include "kernels/dense/tuned/search/trial_bench.hpp"
#include "kernels/dense/tuned/search/tuner.hpp"
#include "kernels/runtime/host_resources.hpp"
#include "sfft/error.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using namespace sfft::detail;
using namespace sfft::detail::tuned;
using nlohmann::json;

constexpr std::size_t kFirst = 8, kOthers = 6;  ///< kernels per step: the first in rank, and others at random

struct Arguments {
  std::string out, compile;
  int count = 100;
  std::uint64_t seed = 1;
  double max_points = 1 << 23;
};

/// The kernels of one step of a problem, as whole policies that differ in this step.
struct Trials {
  DenseProblem problem;
  bool single = true;
  std::size_t step = 0;
  LineNeed need;
  std::vector<std::pair<std::size_t, TransformPolicy>> ranked;
};

std::vector<Trials> trials_of(const bench::DenseCase& what, std::mt19937_64& random) {
  const bench::PeerProblem& given = what.problem;
  const bool single = !given.double_precision;
  const DenseProblem problem =
      make_problem(Shape(given.extents), given.real, {.device = Device::gpu(), .batch = given.batch});
  const Limits limits = limits_of(problem.device);
  std::vector<Trials> all;
  TransformPolicy rules;
  try {
    rules = choose_by_rules(problem, single);
  } catch (const Error&) {
    return all;
  }
  std::string why;
  const std::vector<LineNeed> needs = needs_of(problem, single, rules.factors, limits, why);
  for (std::size_t step = 0; step < needs.size(); ++step) {
    Trials trials{problem, single, step, needs[step], {}};
    const std::vector<KernelPolicy> kernels = ranked_by_rules(needs[step], single, limits, 64);
    for (std::size_t rank = 0; rank < kernels.size(); ++rank) {
      if (rank >= kFirst && random() % std::max<std::size_t>(1, kernels.size() - kFirst) >= kOthers) continue;
      trials.ranked.emplace_back(rank, rules);
      trials.ranked.back().second.kernels[step] = kernels[rank];
    }
    all.push_back(std::move(trials));
  }
  return all;
}

std::vector<Trials> all_trials(const Arguments& arguments) {
  std::vector<Trials> all;
  std::mt19937_64 random(arguments.seed);
  for (const bench::DenseCase& what : bench::drawn_cases(arguments.seed, arguments.count)) {
    if (static_cast<double>(what.problem.points() * what.problem.batch) > arguments.max_points) continue;
    for (Trials& trials : trials_of(what, random)) all.push_back(std::move(trials));
  }
  return all;
}

std::string source_of_step(const Trials& trials, const TransformPolicy& policy) {
  const ElementType type = trials.single ? own_type<float>(trials.problem) : own_type<double>(trials.problem);
  return source_of(lay_out({trials.problem, trials.single, false, type}, policy).kernels.at(trials.step),
                   trials.single);
}

void compile_part(const Arguments& arguments, const std::vector<Trials>& all) {
  const std::size_t slash = arguments.compile.find('/');
  const std::size_t part = std::stoul(arguments.compile),
                    parts = std::stoul(arguments.compile.substr(slash + 1));
  const cuda::DeviceInfo& device = cuda::device_info(0);
  std::size_t at = 0;
  for (const Trials& trials : all) {
    for (const auto& [rank, policy] : trials.ranked) {
      if (at++ % parts != part) continue;
      try {
        compile({source_of_step(trials, policy)}, fmt::format("sm_{}{}", device.major, device.minor));
      } catch (const Error&) {
      }
    }
  }
}

template <class Real>
json time(const Trials& trials, const Deadline& deadline) {
  TrialBench<Real> bench(trials.problem);
  std::vector<Candidate> candidates;
  for (const auto& [rank, policy] : trials.ranked)
    candidates.push_back({.policy = policy, .only = trials.step});
  bench.compile(candidates, deadline);
  json rows = json::array();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto us = bench.time(candidates[i]);
    const Kernel* const kernel =
        candidates[i].program.kernels.empty() ? nullptr : &candidates[i].program.kernels.at(trials.step);
    TransformPolicy alone;
    alone.kernels = {candidates[i].policy.kernels[trials.step]};
    rows.push_back({{"rank", trials.ranked[i].first},
                    {"kernel", to_text(alone)},
                    {"shared", kernel != nullptr ? kernel->shared_bytes(trials.single) : 0},
                    {"us", us ? json(*us) : json()}});
  }
  return rows;
}

json describe(const Trials& trials) {
  const LineNeed& need = trials.need;
  return {{"shape", trials.problem.shape.to_string()},
          {"batch", trials.problem.batch},
          {"real", trials.problem.real},
          {"single", trials.single},
          {"step", trials.step},
          {"points", need.points},
          {"interleaved", need.interleaved},
          {"transposed", need.transposed},
          {"half_spectra", need.half_spectra},
          {"mirrored", need.mirrored},
          {"twiddled", need.twiddled},
          {"rows", need.rows},
          {"lines", need.lines}};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Arguments arguments;
    bench::parse_options(argc, argv,
                         {{"--out", arguments.out},
                          {"--compile", arguments.compile},
                          {"--count", arguments.count},
                          {"--seed", arguments.seed},
                          {"--max-points", arguments.max_points}});
    const std::vector<Trials> all = all_trials(arguments);
    if (!arguments.compile.empty()) {
      compile_part(arguments, all);
      return 0;
    }
    json result{{"commit", SFFT_COMMIT}, {"device", cuda::device_info(0).name}, {"steps", json::array()}};
    for (const Trials& trials : all) {
      try {
        json step = describe(trials);
        step["trials"] = trials.single ? time<float>(trials, std::chrono::steady_clock::now())
                                       : time<double>(trials, std::chrono::steady_clock::now());
        result["steps"].push_back(std::move(step));
      } catch (const Error& error) {
        fmt::print(stderr, "{}: {}\n", trials.problem.shape.to_string(), error.what());
      }
    }
    bench::write_json(arguments.out, result);
    fmt::print("{} steps\n", result["steps"].size());
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_cuda_trials: {}\n", error.what());
    return 2;
  }
}
