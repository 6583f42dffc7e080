// SPDX-License-Identifier: Apache-2.0
// Options of sfft-video vibration.
#include <fmt/format.h>

#include <charconv>

#include "options.hpp"

namespace sfft::apps {

namespace {

/// Parses "COLUMNSxROWS", or 0 for none.
void parse_tiles(const std::string& text, video::VibrationOptions& options) {
  const std::size_t cross = text.find('x');
  const auto number = [&](std::string_view part) {
    int value = -1;
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), value);
    return code == std::errc() && end == part.data() + part.size() && value >= 0 && value <= 64 ? value : -1;
  };
  const std::string_view view = text;
  options.tile_columns = number(view.substr(0, cross));
  options.tile_rows = cross == std::string::npos ? options.tile_columns : number(view.substr(cross + 1));
  if (options.tile_columns < 0 || options.tile_rows < 0 ||
      (cross == std::string::npos && options.tile_columns != 0))
    throw CLI::ValidationError("--tiles",
                               fmt::format("'{}' is not COLUMNSxROWS, such as 8x6, nor 0 for none", text));
}

/// Checks the size of regions that region_check() accepts.
CLI::Validator at_least_8_by_8() {
  return {[](std::string& text) {
            const auto region = parse_region(text);
            const bool good = !region || (region->width >= 8 && region->height >= 8);
            return good ? std::string() : fmt::format("the region '{}' is smaller than 8 by 8 pixels", text);
          },
          ""};
}

}  // namespace

void add_vibration(CLI::App& app, VibrationCommand& command) {
  CLI::App* vibration =
      app.add_subcommand("vibration", "Say what in the picture vibrates, at which frequency, and how far");
  video::VibrationOptions& options = command.options;
  vibration->add_option("RECORDING", command.input, kInputHelp)->required();
  add_source(vibration, command.source);
  vibration
      ->add_option(
          "--fps", options.fps,
          "Frames per second of the camera, where the recording is stored at another rate (high-speed "
          "cameras)")
      ->check(positive());
  vibration
      ->add_option_function<std::vector<std::string>>(
          "--roi",
          [&options](const std::vector<std::string>& regions) {
            for (const std::string& region : regions) options.regions.push_back(*parse_region(region));
          },
          "Look at the region X,Y,WIDTH,HEIGHT in pixels instead of the whole picture; may be given several "
          "times")
      ->check(region_check() & at_least_8_by_8())
      ->allow_extra_args(false);
  vibration
      ->add_option_function<std::string>(
          "--tiles", [&options](const std::string& text) { parse_tiles(text, options); },
          "Grid of the map, COLUMNSxROWS; 0 for none (default: tiles of about 64 pixels, at most 10x10)")
      ->default_str("auto");
  vibration
      ->add_option("--expect", options.expect_hz,
                   "A frequency in Hz to look at: it needs less evidence than one that may be any, and a "
                   "peak where it folds to is named after it; may be given several times")
      ->allow_extra_args(false)
      ->check(positive());
  vibration
      ->add_option("--false-alarm", options.false_alarm_probability,
                   "Probability that noise alone makes any peak, for each region; the tiles share one")
      ->check(between(1e-12, 0.5))
      ->capture_default_str();
  vibration
      ->add_option("--k", options.k, "Frequencies of the template (default: 1000, fewer for small regions)")
      ->check(positive());
  vibration
      ->add_option("--samples", options.max_samples,
                   "Share of a region's pixels that may be read, 0 to 1 (default: 1): fewer take less time "
                   "and find the same "
                   "frequencies, but see less and rate amplitudes too low in noise")
      ->check(CLI::Range(1e-9, 1.0));
  vibration->add_option("--frames", options.frames, "Stop after N frames")->check(positive());
  vibration->add_option("--json", command.json, "Write the report for scripts; - for standard output");
  vibration->add_option("--csv", command.csv, "Write the place in every frame; - for standard output");
  vibration->add_option("--html", command.html, "Write a page with plots and the map; - for standard output");
  vibration->add_option("--svg", command.svg, "Write a picture of the spectrum; - for standard output");
  vibration->add_option("--hdf5", command.hdf5, "Write time series and spectra as HDF5");
  vibration->add_flag("--quiet", command.quiet, "No progress and no summary");
}

}  // namespace sfft::apps
