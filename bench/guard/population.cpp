// SPDX-License-Identifier: Apache-2.0
// Runs populations of drawn recordings: bench_guard_population [nights] --count 120 --threads 16.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <opencv2/core.hpp>
#include <string>

#include "bench/guard/covers.hpp"
#include "bench/guard/nights.hpp"
#include "bench/guard/rates.hpp"
#include "bench/result_file.hpp"

int main(int argc, char** argv) {
  CLI::App app{"What sfft-video makes of drawn recordings whose events are known"};
  std::string population = "rates";
  std::string json;
  std::vector<std::string> recordings;
  sfft::bench::PopulationOptions options;
  app.add_option("POPULATION", population,
                 "rates: the same scenes at 5 to 120 frames per second; nights: webs, moths, rain, "
                 "headlights; covers: slow ones, over recordings")
      ->check(CLI::IsMember({"rates", "nights", "covers"}))
      ->capture_default_str();
  app.add_option("--recordings", recordings, "For covers: recordings that OpenCV decodes")->delimiter(',');
  app.add_option("--count", options.count, "Scenes")->capture_default_str();
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--threads", options.threads)->capture_default_str();
  app.add_option("--cameras", options.cameras, "Only these rates, as the table names them")->delimiter(',');
  app.add_option("--kinds", options.kinds, "Only these kinds, as the table names them")->delimiter(',');
  app.add_flag("--verbose", options.verbose, "A line for each that is not right");
  app.add_option("--json", json, "Write the results");
  CLI11_PARSE(app, argc, argv);
  cv::setNumThreads(1);
  const auto out = population == "nights"   ? sfft::bench::nights(options)
                   : population == "covers" ? sfft::bench::covers(options, recordings)
                                            : sfft::bench::rates(options);
  sfft::bench::write_json(json, out);
  return 0;
}
