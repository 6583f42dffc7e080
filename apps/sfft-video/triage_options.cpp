// SPDX-License-Identifier: Apache-2.0
// Options of sfft-video triage.
#include "options.hpp"

namespace sfft::apps {

void add_triage(CLI::App& app, TriageCommand& command) {
  CLI::App* triage =
      app.add_subcommand("triage", "Find when anything happens in recordings: events, pictures, cut lists");
  video::TriageOptions& options = command.options;
  triage
      ->add_option(
          "FILE", command.inputs,
          "Recordings, and folders that stand for the recordings in them; any INPUT of 'run' is read, "
          "too")
      ->required();
  add_source(triage, options.source);
  add_region(triage, options.source);
  add_areas(triage, options.areas);
  triage
      ->add_option("--sensitivity", command.sensitivity,
                   "2: half as much change makes an event, 0.5: twice as much")
      ->check(between(0.1, 10))
      ->capture_default_str();
  const auto seconds = [] { return between(0, 3600, "a number of seconds"); };
  triage
      ->add_option("--margin-before", options.event.margin_before_s, "Seconds that each event begins earlier")
      ->check(seconds())
      ->capture_default_str();
  triage
      ->add_option("--margin-after", options.event.margin_after_s,
                   "Seconds that each event ends later; events whose margins overlap are one")
      ->check(seconds())
      ->capture_default_str();
  triage
      ->add_option("--min-length", options.event.min_length_s,
                   "Seconds that a change lasts at least, without margins")
      ->check(seconds())
      ->capture_default_str();
  triage
      ->add_option(
          "--window", options.change.window_s,
          "Seconds around a frame of which the usual picture is made: what is there for half of them")
      ->check(positive())
      ->capture_default_str();
  triage
      ->add_option("--settle", options.change.settle_s,
                   "What has come to stay is no change any more after about half of these seconds")
      ->check(positive())
      ->capture_default_str();
  triage->add_option("--k", options.change.k, "Coefficients per frame, about: more see smaller things")
      ->check(between(200, 20000))
      ->capture_default_str();
  triage
      ->add_option("--samples", options.change.max_samples,
                   "Share of the pixels that may be read for them, 0 to 1 (default: automatic)")
      ->check(CLI::Range(1e-9, 1.0));
  add_thresholds(triage, options.change.thresholds);
  triage->add_option("--frames", options.frames, "Stop after N frames of each file")->check(positive());
  triage->add_option("--jobs", command.jobs, "Files that are read at the same time, 0 for one per core")
      ->check(between(0, 256))
      ->capture_default_str();
  triage->add_flag("--separate", command.separate,
                   "Read each recording for itself, also where it continues another one");
  triage->add_option(
      "--state", command.state,
      "Keep the results of finished files in this file, and do not read those again in a later run");
  triage->add_option("--clips", command.clips,
                     "Cut each event out of its file, without encoding it again, into this folder");
  triage->add_option("--json", command.json, "Write the report for scripts; - for standard output");
  triage->add_option("--csv", command.csv, "Write a line per event; - for standard output");
  triage->add_option("--edl", command.edl,
                     "Write a cut list: NAME.edl as CMX 3600, other names for ffmpeg -f concat");
  triage->add_option("--html", command.html, "Write a page with the timeline and a picture of each event");
  triage->add_option("--svg", command.svg, "Write the timeline as a picture");
  triage->add_flag("--quiet", command.quiet, "No progress and no summary");
}

}  // namespace sfft::apps
