// SPDX-License-Identifier: Apache-2.0
// Collects the context of a run for Google Benchmark's JSON, and defines how medians are taken.
#include "bench/main.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "bench/environment.hpp"
#include "sfft/sfft.hpp"
#include "sfft_commit.hpp"

namespace sfft::bench {

std::vector<std::string> take_inputs(int& argc, char** argv) {
  std::vector<std::string> inputs;
  char** const end =
      std::stable_partition(argv + 1, argv + argc, [](const char* word) { return word[0] == '-'; });
  inputs.assign(end, argv + argc);
  argc = static_cast<int>(end - argv);
  return inputs;
}

int run_registered(int argc, char** argv, const std::vector<std::string>& inputs) {
  std::string command = "build/bin/";
  for (int i = 0; i < argc; ++i) {
    const std::string word = argv[i];
    command += i == 0 ? word.substr(word.rfind('/') + 1) : " " + word;
    for (std::size_t n = 0; i == 0 && n < inputs.size(); ++n) command += " " + inputs[n];
  }
  benchmark::AddCustomContext("command", command);
  benchmark::AddCustomContext("commit", SFFT_COMMIT);
  benchmark::AddCustomContext("sfft", build_info());
  benchmark::AddCustomContext("processor", processor());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

benchmark::internal::Benchmark* with_median(benchmark::internal::Benchmark* registered, int iterations,
                                            int repetitions) {
  if (iterations > 0) {
    registered->Iterations(iterations);
  } else {
    registered->MinTime(0.05);
  }
  return registered->Unit(benchmark::kMicrosecond)
      ->Repetitions(repetitions)
      ->ReportAggregatesOnly()
      ->ComputeStatistics("min",
                          [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); });
}

}  // namespace sfft::bench
