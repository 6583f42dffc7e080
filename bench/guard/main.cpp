// SPDX-License-Identifier: Apache-2.0
// bench_guard runs the guard on tampered and untouched recordings, prints tables and writes JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <opencv2/core.hpp>

#include "bench/environment.hpp"
#include "bench/guard/detect.hpp"
#include "bench/guard/shifts.hpp"
#include "bench/result_file.hpp"
#include "sfft_commit.hpp"

namespace {

using nlohmann::ordered_json;

void print_detection(const ordered_json& rows) {
  fmt::print("  {:<10} {:>8} {:>7} {:>9} {:>7}\n", "kind", "strength", "found", "of", "delay");
  for (const auto& row : rows) {
    fmt::print("  {:<10} {:>8.3g}{} {:>6} {:>9} {:>7.1f}  {}\n", row["kind"].get<std::string>(),
               row["strength"].get<double>(), row["at_a_glance"].get<bool>() ? "*" : " ",
               row["found"].get<int>(), row["trials"].get<int>(), row["mean_delay_frames"].get<double>(),
               row["other_kinds"].dump());
  }
}

void print_shifts(const ordered_json& rows) {
  fmt::print("  {:>8} {:>10} {:>10} {:>8} | {:>10} {:>10} {:>8} {:>7}\n", "shift px", "median", "largest",
             "us", "phaseCorr.", "largest", "us", "times");
  for (const auto& row : rows) {
    fmt::print("  {:>8.2f} {:>10.4f} {:>10.4f} {:>8.0f} | {:>10.4f} {:>10.4f} {:>8.0f} {:>7.1f}\n",
               row["shift_px"].get<double>(), row["error_median_px"].get<double>(),
               row["error_largest_px"].get<double>(), row["us"].get<double>(),
               row["phase_correlate_error_median_px"].get<double>(),
               row["phase_correlate_error_largest_px"].get<double>(), row["phase_correlate_us"].get<double>(),
               row["times_faster"].get<double>());
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "What sfft-video guard finds of tampering at random moments of recordings, what it takes untouched "
      "ones for, and how exact its shifts are compared with cv::phaseCorrelate"};
  std::vector<std::string> paths;
  std::string json;
  sfft::bench::DetectOptions options;
  int frames = 2000;
  bool only_shifts = false;
  bool no_shifts = false;
  app.add_option("RECORDING", paths, "Recordings that OpenCV decodes")->required();
  app.add_option("--moments", options.moments, "Random moments per recording, kind and strength")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Of moments, directions, covers and noise")->capture_default_str();
  app.add_option("--within", options.within_s, "Seconds, but at least ten frames, in which a find must begin")
      ->capture_default_str();
  app.add_option("--sensitivity", options.sensitivity, "Of the guard")->capture_default_str();
  app.add_option("--frames", frames, "Read at most so many of each recording")->capture_default_str();
  app.add_flag("--only-shifts", only_shifts);
  app.add_flag("--no-shifts", no_shifts);
  app.add_option("--json", json, "Write the results");
  CLI11_PARSE(app, argc, argv);
  cv::setNumThreads(1);
  ordered_json out{{"commit", SFFT_COMMIT},        {"processor", sfft::bench::processor()},
                   {"opencv", CV_VERSION},         {"seed", options.seed},
                   {"moments", options.moments},   {"sensitivity", options.sensitivity},
                   {"within_s", options.within_s}, {"recordings", ordered_json::array()}};
  for (const std::string& path : paths) {
    const sfft::bench::Clip clip = sfft::bench::read_clip(path, frames);
    ordered_json row{{"name", clip.name},
                     {"frames", clip.frames.size()},
                     {"width", clip.frames[0].cols},
                     {"height", clip.frames[0].rows},
                     {"within_frames", sfft::bench::frames_within(clip, options)}};
    fmt::print("{}: {} frames of {}x{}\n", clip.name, clip.frames.size(), clip.frames[0].cols,
               clip.frames[0].rows);
    if (!only_shifts) {
      row["untouched"] = sfft::bench::false_alarms(clip, options);
      fmt::print("  {} alarms in {} frames with {} steps of light\n", row["untouched"]["alarms"].size(),
                 row["untouched"]["frames"].get<std::int64_t>(), row["untouched"]["light_steps"].get<int>());
      for (const auto& alarm : row["untouched"]["alarms"]) fmt::print("    {}\n", alarm.dump());
      row["detection"] = sfft::bench::detect(clip, options);
      print_detection(row["detection"]);
    }
    if (!no_shifts) {
      row["shifts"] = sfft::bench::shifts(clip);
      print_shifts(row["shifts"]);
    }
    std::fflush(stdout);
    out["recordings"].push_back(row);
  }
  sfft::bench::write_json(json, out);
  return 0;
}
