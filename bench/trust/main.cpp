// SPDX-License-Identifier: Apache-2.0
// bench_trust measures whether reported errors can be trusted. This file parses the command line, calls a
// sub-command and writes its JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>

#include "bench/trust/commands.hpp"
#include "sfft/sfft.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft::trust;

constexpr const char* kDescription =
    "Compares what the library says of its errors with the truth, over populations of streams and signals.\n"
    "bench/trust/README.md says what each sub-command measures and what it wants to see.";

CLI::App* add_video(CLI::App& app, VideoOptions& options) {
  CLI::App* command =
      app.add_subcommand("video", "Video streams as sfft-video transforms them: reported over true error");
  command->add_option("--frames", options.frames, "Frames pushed per stream")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--every", options.every, "Compare every n-th frame")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Another seed is another population")->capture_default_str();
  command->add_option("--learn-frames", options.learn_frames, "Learn from so many first frames")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--accuracy", options.accuracy, "TrackerOptions::accuracy")->capture_default_str();
  command->add_option("--check", options.check,
                      "TrackerOptions::check of every n-th frame, as sfft-video does");
  command->add_flag("--reference,!--no-reference", options.reference,
                    "Difference against a reference frame (default)");
  command->add_flag("--synthetic,!--no-synthetic", options.synthetic, "The synthetic streams (default)");
  command->add_flag("--plan-alone", options.plan_alone, "A Plan instead of a Tracker");
  command->add_option("--only", options.only, "Only families whose name contains this");
  command->add_option("--recording", options.recordings, "Recordings to measure too");
  command->add_flag("--quick", options.quick, "One stream per family, 100 frames");
  return command;
}

CLI::App* add_streams(CLI::App& app, StreamsOptions& options) {
  CLI::App* command =
      app.add_subcommand("streams", "Signal streams through Tracker<float>: frames beyond twice the report");
  command->add_option("--count", options.count, "Streams")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  command->add_option("--frames", options.frames, "Frames pushed per stream")
      ->check(CLI::Range(20, 100000))
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Another seed is another population")->capture_default_str();
  command->add_option("--accuracy", options.accuracy, "TrackerOptions::accuracy of the second way")
      ->capture_default_str();
  command->add_option("--only", options.only, "Only families whose name contains this");
  command->add_flag("--verbose", options.verbose, "A line per stream");
  command->add_flag("--quick", options.quick, "60 streams");
  return command;
}

CLI::App* add_switch(CLI::App& app, SwitchOptions& options) {
  CLI::App* command =
      app.add_subcommand("switch", "Video streams whose kind of change switches: reports after a switch");
  command->add_option("--count", options.count, "Streams")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  command->add_option("--first", options.first, "Stream to begin with")->capture_default_str();
  command->add_option("--frames", options.frames, "Frames pushed per stream")
      ->check(CLI::Range(100, 1000000))
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Another seed is another population")->capture_default_str();
  command->add_option("--threads", options.threads, "Streams tracked at a time")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--accuracy", options.accuracy, "TrackerOptions::accuracy of a second tracker")
      ->capture_default_str();
  command->add_flag("--reference,!--no-reference", options.reference,
                    "Difference against a reference frame (default)");
  command->add_option("--recording", options.recordings, "Take half of the scenes from these");
  command->add_flag("--verbose", options.verbose, "A line per stream, and all pairs");
  command->add_flag("--enforce", options.enforce, "Exit with status 2 where a bound is not kept");
  command->add_flag("--quick", options.quick, "20 streams");
  return command;
}

CLI::App* add_walk(CLI::App& app, WalkOptions& options) {
  CLI::App* command =
      app.add_subcommand("walk", "Tones whose amplitudes and phases walk, against a learned reference");
  command->add_option("--count", options.count, "Streams")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  command->add_option("--frames", options.frames, "Frames pushed per stream")
      ->check(CLI::Range(20, 1000000))
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Another seed is another population")->capture_default_str();
  command->add_option("--threads", options.threads, "Streams tracked at a time")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_flag("--verbose", options.verbose, "A line per stream");
  command->add_flag("--enforce", options.enforce, "Exit with status 2 where a bound is not kept");
  command->add_flag("--quick", options.quick, "50 streams");
  return command;
}

CLI::App* add_tone(CLI::App& app, ToneOptions& options) {
  CLI::App* command = app.add_subcommand("tone", "Known support: whether a new tone outside it is seen");
  command
      ->add_option("--count", options.count,
                   "Places for tones of the template's size; a tenth for other questions")
      ->check(CLI::Range(100, 1000000000))
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Another seed is another population")->capture_default_str();
  command->add_option("--only", options.only, "Only configurations whose name contains this");
  command->add_flag("--quick", options.quick, "2000 places, short signals alone");
  return command;
}

CLI::App* add_bursts(CLI::App& app, BurstsOptions& options) {
  CLI::App* command =
      app.add_subcommand("bursts", "Known support: whether a disturbance of some samples is seen");
  command->add_option("--count", options.count, "Disturbed frames")
      ->check(CLI::Range(100, 1000000000))
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Another seed is another population")->capture_default_str();
  command->add_option("--threads", options.threads, "Threads that share the plans")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_flag("--verbose", options.verbose, "A line per silent frame");
  command->add_flag("--quick", options.quick, "5000 frames, short signals alone");
  return command;
}

CLI::App* add_tones(CLI::App& app, TonesOptions& options) {
  CLI::App* command = app.add_subcommand(
      "tones", "Tones that start, stop, drift and hop: frames until a tracker's template has them again");
  command->add_option("--count", options.count, "Streams")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  command->add_option("--frames", options.frames, "Frames pushed per stream")
      ->check(CLI::Range(130, 1000000))
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Another seed is another population")->capture_default_str();
  command->add_option("--threads", options.threads, "Streams at a time")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--only", options.only, "Only families whose name contains this");
  command->add_option("--index", options.index, "One stream, with a line for each frame of note");
  command->add_flag("--verbose", options.verbose, "A line per stream");
  command->add_flag("--quick", options.quick, "35 streams");
  return command;
}

CLI::App* add_off_grid(CLI::App& app, OffGridOptions& options) {
  CLI::App* command = app.add_subcommand(
      "off-grid",
      "Discovery of tones between bins: right, or said to be leakage; cost of searches that fail");
  command->add_option("--count", options.count, "Signals off the grid, and as many on it")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  command->add_option("--first", options.first, "Number of the first signal")->capture_default_str();
  command->add_option("--seed", options.seed, "Another seed is another population")->capture_default_str();
  command->add_option("--threads", options.threads, "Threads; costs are measured best with one")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_flag("--large", options.large, "A quarter of the signals has up to 2^20 points");
  command->add_flag("--verbose", options.verbose, "A line per signal");
  command->add_flag("--quick", options.quick, "60 signals of each");
  return command;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{kDescription, "bench_trust"};
  app.require_subcommand(1);
  std::string json;
  app.add_option("--json", json, "Write what was measured to this file");
  app.fallthrough();
  VideoOptions video;
  StreamsOptions streams;
  ToneOptions tone;
  BurstsOptions bursts;
  const CLI::App* video_command = add_video(app, video);
  const CLI::App* streams_command = add_streams(app, streams);
  const CLI::App* tone_command = add_tone(app, tone);
  const CLI::App* bursts_command = add_bursts(app, bursts);
  SwitchOptions switching;
  WalkOptions walk;
  const CLI::App* switch_command = add_switch(app, switching);
  const CLI::App* walk_command = add_walk(app, walk);
  TonesOptions tones;
  const CLI::App* tones_command = add_tones(app, tones);
  OffGridOptions off_grid;
  const CLI::App* off_grid_command = add_off_grid(app, off_grid);
  CLI11_PARSE(app, argc, argv);
  if (video.quick) video.frames = 100;
  if (streams.quick) streams.count = 60;
  if (tone.quick) tone.count = 2000;
  if (bursts.quick) bursts.count = 5000;
  if (switching.quick) switching.count = 20;
  if (walk.quick) walk.count = 50;
  if (tones.quick) tones.count = 35;
  if (off_grid.quick) off_grid.count = 60;

  std::string command_line = "bench_trust";
  for (int i = 1; i < argc; ++i) command_line += std::string(" ") + argv[i];
  fmt::print("{} (sfft {}, commit {})\n\n", command_line, sfft::version(), SFFT_COMMIT);
  try {
    nlohmann::json results;
    if (video_command->parsed()) results = run_video(video);
    if (streams_command->parsed()) results = run_streams(streams);
    if (tone_command->parsed()) results = run_tone(tone);
    if (bursts_command->parsed()) results = run_bursts(bursts);
    if (switch_command->parsed()) results = run_switch(switching);
    if (walk_command->parsed()) results = run_walk(walk);
    if (tones_command->parsed()) results = run_tones(tones);
    if (off_grid_command->parsed()) results = run_off_grid(off_grid);
    results["command"] = command_line;
    results["commit"] = SFFT_COMMIT;
    if (!json.empty() && !(std::ofstream(json) << results.dump(1) << '\n')) {
      fmt::print(stderr, "bench_trust: cannot write {}\n", json);
      return 3;
    }
    if ((switching.enforce || walk.enforce) && results["failures"] != 0) return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_trust: {}\n", error.what());
    return 1;
  }
  return 0;
}
