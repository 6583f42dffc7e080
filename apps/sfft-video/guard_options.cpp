// SPDX-License-Identifier: Apache-2.0
// Options of sfft-video guard.
#include <fmt/format.h>

#include "options.hpp"

namespace sfft::apps {

namespace {

/// Parses a list like "moved,covered"; "alarms" means all kinds except light, "any" means all kinds.
void parse_kinds(const std::string& text, std::array<bool, video::kEventKinds>& kinds) {
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string name = text.substr(at, end - at);
    at = end + 1;
    if (name == "any" || name == "alarms") {
      for (std::size_t i = 0; i < kinds.size(); ++i)
        kinds[i] = kinds[i] || name == "any" || static_cast<video::EventKind>(i) != video::EventKind::light;
      continue;
    }
    const auto kind = video::event_kind(name);
    if (!kind)
      throw CLI::ValidationError(
          "--fail-on", fmt::format("'{}' is no kind of event: moved, covered, defocused, frozen, dark, "
                                   "blinded, light, flicker, offline, alarms (all but light) or any",
                                   name));
    kinds[static_cast<std::size_t>(*kind)] = true;
  }
}

}  // namespace

void add_guard(CLI::App& app, GuardCommand& command) {
  CLI::App* guard = app.add_subcommand(
      "guard", "Tell when a camera is moved, covered, out of focus, frozen, dark, blinded or offline");
  video::WatchOptions& options = command.options;
  guard->add_option("SOURCE", command.inputs, kInputHelp)->required();
  add_source(guard, options.source);
  add_region(guard, options.source);
  add_areas(guard, options.areas);
  guard
      ->add_option("--sensitivity", options.guard.sensitivity,
                   "2: thresholds half as high, 0.5: twice as high")
      ->check(between(0.1, 10))
      ->capture_default_str();
  guard
      ->add_option("--learn-frames", options.guard.learn_frames,
                   "First frames that show the scene as it should be")
      ->check(between(1, 1000))
      ->capture_default_str();
  guard->add_option("--k", options.guard.k, "Coefficients per frame, about")
      ->check(between(200, 20000))
      ->capture_default_str();
  guard
      ->add_option("--samples", options.guard.max_samples,
                   "Share of the pixels that may be read for them, 0 to 1 (default: automatic)")
      ->check(CLI::Range(1e-9, 1.0));
  guard
      ->add_option("--settle", options.guard.settle_s,
                   "Seconds after which what a moved camera shows is taken for the scene")
      ->check(positive())
      ->capture_default_str();
  guard
      ->add_option(
          "--presets", options.guard.presets,
          "Number of views to which a camera on patrol returns: they are learned, and moves between them "
          "are no alarms")
      ->check(between(0, 64))
      ->capture_default_str();
  add_thresholds(guard, options.guard.thresholds);
  guard->add_option("--silence", options.silence_s, "Seconds without frames after which a camera is offline")
      ->check(positive())
      ->capture_default_str();
  guard->add_option("--frames", options.frames, "Stop after N frames of each source")->check(positive());
  guard->add_option_function<std::string>(
      "--fail-on", [&command](const std::string& text) { parse_kinds(text, command.fail_on); },
      "Exit with code 5 if there was an event of these KINDS: a list with commas, alarms (all but light) or "
      "any");
  guard->add_option(
      "--on-event", command.on_event,
      "Command for the shell, run for every event that begins or ends: the event is on its standard "
      "input as JSON and in SFFT_ variables");
  guard->add_option("--snapshots", command.snapshots,
                    "Write a picture of each event, from its start, into this folder as PNG");
  guard->add_option("--json", command.json, "Write the report for scripts; - for standard output");
  guard->add_option("--html", command.html, "Write a page with plots and events; - for standard output");
  guard->add_option("--svg", command.svg, "Write a picture of the first source's measurements");
  guard->add_flag("--separate", command.separate,
                  "Guard each recording for itself, also where it continues another one");
  guard->add_flag("--quiet", command.quiet, "No summary");
}

}  // namespace sfft::apps
