// SPDX-License-Identifier: Apache-2.0
// Shared by all benchmark programs: adds their origin to results, and defines how times are taken.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "bench/timing.hpp"

namespace sfft::bench {

/// Removes the words that are not options from a command line and returns them.
std::vector<std::string> take_inputs(int& argc, char** argv);

/// Adds commit, compiler, processor and the command line to the JSON context, runs the registered benchmarks,
/// and returns the exit code. `inputs` are the words that take_inputs() returned.
int run_registered(int argc, char** argv, const std::vector<std::string>& inputs = {});

/// Takes the median of repeated short runs, as for every published time. `iterations` > 0 fixes the length of
/// a run.
benchmark::internal::Benchmark* with_median(benchmark::internal::Benchmark* registered, int iterations = 0,
                                            int repetitions = 11);

}  // namespace sfft::bench
