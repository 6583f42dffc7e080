// SPDX-License-Identifier: Apache-2.0
// Options of sfft-video merge, and options of run that partition recordings between processes.
#include "options.hpp"
#include "sfft/error.hpp"
#include "video/shards/shard.hpp"

namespace sfft::apps {

namespace {

CLI::Validator shard_check() {
  return {[](std::string& text) {
            if (text == "auto") return std::string();
            try {
              video::parse_shard(text);
            } catch (const Error& error) {
              return std::string(error.what());
            }
            return std::string();
          },
          ""};
}

}  // namespace

void add_shard(CLI::App* run, RunCommand& command) {
  auto* results = run->add_option(
      "--results", command.results,
      "Keep each recording's report in this folder as soon as it is finished, and leave out what an earlier "
      "start has finished; 'sfft-video merge' makes one report");
  run->add_option("--shard", command.shard,
                  "Read part I of N of the recordings, as in 2/8; 'auto' takes both from mpirun or srun")
      ->check(shard_check())
      ->needs(results);
}

void add_merge(CLI::App& app, MergeCommand& command) {
  CLI::App* merge = app.add_subcommand("merge", "Make one report of the shards of a run");
  merge
      ->add_option("SHARD", command.shards,
                   "The folder that 'run --results' was given, or the shards' files, one from each")
      ->required();
  merge->add_option("--json", command.json,
                    "Write the report for scripts, as a run over all recordings does; - for standard output");
  merge->add_option("--csv", command.csv, "Write a line per recording; - for standard output");
  merge->add_flag("--partial", command.partial,
                  "Report what there is, where shards are missing or have not finished; the exit code is 3");
  merge->add_flag("--quiet", command.quiet, "No summary");
}

}  // namespace sfft::apps
