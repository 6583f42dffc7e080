// SPDX-License-Identifier: Apache-2.0
// Writes vibration reports as JSON, CSV and text.
#include "video/vibration/vibration_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sfft/sfft.hpp"
#include "video/report/input_log.hpp"
#include "video/report/json_number.hpp"
#include "video/report/text.hpp"
#include "video/vibration/analysis.hpp"

namespace sfft::video {

namespace {

using Json = nlohmann::ordered_json;

Json number(const std::optional<double>& value) {
  return value ? number_or_null(*value) : Json(nullptr);
}

Json rectangle(const Region& region) {
  return {{"x", region.x}, {"y", region.y}, {"width", region.width}, {"height", region.height}};
}

void add_alias(Json& json, const VibrationPeak& peak) {
  json["alias_of_hz"] = peak.alias ? number_or_null(peak.alias->hz) : Json(nullptr);
  json["alias_reason"] = peak.alias ? Json(peak.alias->reason) : Json(nullptr);
  json["alias_candidates_hz"] = peak.alias_candidates_hz;
  json["signal_to_noise"] = number_or_null(peak.signal_to_noise);
  json["false_alarm_probability"] = number_or_null(peak.false_alarm_probability);
  json["slow"] = peak.slow;
  json["perhaps_coding"] = peak.coding;
}

Json motion_peak(const VibrationPeak& peak) {
  Json json{{"frequency_hz", number_or_null(peak.frequency_hz)},
            {"standard_error_hz", number_or_null(peak.standard_error_hz)},
            {"amplitude_px", number_or_null(peak.amplitude)},
            {"amplitude_error_px", number_or_null(peak.amplitude_error)},
            {"x_px", number_or_null(peak.x)},
            {"y_px", number_or_null(peak.y)},
            {"direction_deg", number_or_null(peak.direction_deg)},
            {"roundness", number_or_null(peak.roundness)}};
  add_alias(json, peak);
  json["brightness"] = number(peak.other_amplitude);
  json["perhaps_brightness"] = peak.perhaps_brightness;
  json["certainty"] = number_or_null(peak.certainty);
  json["energy_of_motion"] = peak.evidence ? number_or_null(peak.evidence->motion) : Json(nullptr);
  json["energy_of_light"] =
      peak.evidence ? number_or_null(std::max(peak.evidence->light, 0.0)) : Json(nullptr);
  return json;
}

Json brightness_peak(const VibrationPeak& peak) {
  Json json{{"frequency_hz", number_or_null(peak.frequency_hz)},
            {"standard_error_hz", number_or_null(peak.standard_error_hz)},
            {"amplitude_px", number(peak.other_amplitude)},
            {"amplitude_relative", number_or_null(peak.amplitude)},
            {"amplitude_relative_error", number_or_null(peak.amplitude_error)}};
  add_alias(json, peak);
  return json;
}

Json list(const std::vector<VibrationPeak>& peaks, Json (*describe)(const VibrationPeak&)) {
  Json json = Json::array();
  for (const VibrationPeak& peak : peaks) json.push_back(describe(peak));
  return json;
}

Json elsewhere_peak(const VibrationReport::Elsewhere& one) {
  Json json = motion_peak(one.peak);
  json["tile"] = one.tile;
  json["tiles"] = one.tiles;
  return json;
}

Json motion(const VibrationReport& report, const RegionVibration& region, bool first) {
  const PeakSearch& search = region.motion.search;
  Json peaks = Json::array();
  if (first && report.in_a_part_alone()) {
    for (const auto& one : report.elsewhere) {
      if (region.motion.peaks.empty() || !one.peak.doubted()) peaks.push_back(elsewhere_peak(one));
    }
  }
  for (const VibrationPeak& peak : region.motion.peaks) peaks.push_back(motion_peak(peak));
  const bool known = search.searched;
  return {{"structured", region.structured},
          {"searched", known},
          {"frames_followed", region.followed},
          {"lowest_hz", known ? number_or_null(search.lowest_hz) : Json(nullptr)},
          {"highest_hz", known ? number_or_null(0.5 * report.clock.rate_hz) : Json(nullptr)},
          {"resolution_hz", known ? number_or_null(search.resolution_hz) : Json(nullptr)},
          {"noise_px", known ? number_or_null(search.noise) : Json(nullptr)},
          {"detectable_px", known ? number_or_null(search.detectable) : Json(nullptr)},
          {"noise_is_rounding", region.at_floor},
          {"place_error_px", number_or_null(region.place_error_px)},
          {"drift_px", region.motion.drift_range},
          {"outliers", region.motion.outliers},
          {"frequencies", region.frequencies},
          {"samples_fraction", number_or_null(region.samples_fraction)},
          {"renewals", region.renewals},
          {"peaks", std::move(peaks)}};
}

Json brightness(const RegionVibration& region) {
  const PeakSearch& search = region.brightness.search;
  return {{"searched", search.searched},
          {"noise_relative", search.searched ? number_or_null(search.noise) : Json(nullptr)},
          {"detectable_relative", search.searched ? number_or_null(search.detectable) : Json(nullptr)},
          {"peaks", list(region.brightness.peaks, brightness_peak)},
          {"by_motion", list(region.brightness.by_motion, brightness_peak)}};
}

Json tiles(const VibrationReport& report) {
  Json list = Json::array();
  for (const TileVibration& tile : report.tiles) {
    Json json = rectangle(tile.region);
    json["structured"] = tile.structured;
    json["moves"] = tile.moves;
    json["amplitude_px"] = tile.structured ? number_or_null(tile.amplitude_px) : Json(nullptr);
    json["phase_rad"] = tile.structured ? number_or_null(tile.phase_rad) : Json(nullptr);
    json["noise_px"] = tile.structured ? number_or_null(tile.noise_px) : Json(nullptr);
    json["detectable_px"] = tile.structured ? number_or_null(tile.detectable_px) : Json(nullptr);
    Json peaks = Json::array();
    for (const VibrationPeak& peak : tile.peaks)
      peaks.push_back({{"frequency_hz", number_or_null(peak.frequency_hz)},
                       {"standard_error_hz", number_or_null(peak.standard_error_hz)},
                       {"amplitude_px", number_or_null(peak.amplitude)},
                       {"amplitude_error_px", number_or_null(peak.amplitude_error)},
                       {"direction_deg", number_or_null(peak.direction_deg)}});
    json["peaks"] = std::move(peaks);
    list.push_back(std::move(json));
  }
  Json elsewhere = Json::array();
  for (const auto& one : report.elsewhere) elsewhere.push_back(elsewhere_peak(one));
  return {{"columns", report.tile_columns},
          {"rows", report.tile_rows},
          {"map_hz", number(report.map_hz)},
          {"elsewhere", std::move(elsewhere)},
          {"tiles", std::move(list)}};
}

std::string peak_line(const VibrationPeak& peak, bool light) {
  std::string line =
      light ? fmt::format("  {:10.4f} ± {:.4f} Hz  {:8.4f} ± {:.4f} %      ", peak.frequency_hz,
                          peak.standard_error_hz, 100 * peak.amplitude, 100 * peak.amplitude_error)
            : fmt::format("  {:10.4f} ± {:.4f} Hz  {:8.4f} ± {:.4f} px {:4.0f}°", peak.frequency_hz,
                          peak.standard_error_hz, peak.amplitude, peak.amplitude_error, peak.direction_deg);
  line += fmt::format("  {:6.1f} × noise", peak.signal_to_noise);
  if (peak.alias) line += fmt::format("  perhaps {:.3f} Hz: {}", peak.alias->hz, peak.alias->reason);
  if (peak.slow) line += "  slow: sway or drift";
  if (peak.coding) line += "  perhaps coding: kinds of frames come at this rate";
  if (peak.perhaps_brightness) line += "  perhaps light: what changes there is rather light than motion";
  if (light && peak.other_amplitude) line += fmt::format("  (motion too: {:.4f} px)", *peak.other_amplitude);
  return line + "\n";
}

std::string peaks_text(const std::string& title, const std::vector<VibrationPeak>& peaks, bool light) {
  std::string text;
  if (!peaks.empty()) text += title + "\n";
  constexpr std::size_t kShown = 8;
  for (std::size_t i = 0; i < std::min(kShown, peaks.size()); ++i) text += peak_line(peaks[i], light);
  if (peaks.size() > kShown) text += fmt::format("  … and {} more\n", peaks.size() - kShown);
  return text;
}

std::string tiles_text(const VibrationReport& report) {
  if (report.tiles.empty() || !report.map_hz) return {};
  std::string text =
      fmt::format("where         amplitude in px at {:.4f} Hz; a dot: not above noise\n", *report.map_hz);
  for (int row = 0; row < report.tile_rows; ++row) {
    text += "  ";
    for (int column = 0; column < report.tile_columns; ++column) {
      const TileVibration& tile = report.tiles[static_cast<std::size_t>(row * report.tile_columns + column)];
      text += tile.moves ? fmt::format("{:7.3f}", tile.amplitude_px) : "      .";
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string vibration_json(const VibrationReport& report) {
  Json json;
  json["schema"] = "sfft-video-vibration/1";
  json["status"] = to_string(report.status);
  json["message"] = report.message;
  const SourceInfo& input = report.input;
  json["input"] = {
      {"path", input.path},
      {"width", input.width},
      {"height", input.height},
      {"fps", input.fps > 0 ? Json(input.fps) : Json(nullptr)},
      {"frames_expected", input.frames_expected >= 0 ? Json(input.frames_expected) : Json(nullptr)},
      {"frames_read", report.frames}};
  const bool clocked = report.frames > 0;
  json["rate"] = {{"hz", clocked ? number_or_null(report.clock.rate_hz) : Json(nullptr)},
                  {"source", clocked ? Json(report.clock.source) : Json(nullptr)},
                  {"steady", report.clock.steady}};
  json["input"]["capture_fps"] = input.capture_fps > 0 ? Json(input.capture_fps) : Json(nullptr);
  json["input"]["pixel_aspect"] = number_or_null(input.pixel_aspect);
  json["input"]["fields"] = input.fields == Fields::none        ? Json(nullptr)
                            : input.fields == Fields::top_first ? Json("top_first")
                                                                : Json("bottom_first");
  json["input"]["timing"] = Json::parse(timing_json(report.input_log));
  json["duration_s"] = number_or_null(report.duration_s);
  json["false_alarm_probability"] = number_or_null(report.false_alarm_probability);
  Json vibration;
  vibration["verdict"] = verdict(report);
  if (report.regions.empty()) {
    vibration["motion"] = {{"searched", false}, {"peaks", Json::array()}};
    vibration["brightness"] = {{"searched", false}, {"peaks", Json::array()}};
  } else {
    vibration["motion"] = motion(report, report.regions[0], true);
    vibration["brightness"] = brightness(report.regions[0]);
  }
  Json regions = Json::array();
  for (const RegionVibration& region : report.regions) {
    Json one = rectangle(region.region);
    one["motion"] = motion(report, region, false);
    one["brightness"] = brightness(region);
    regions.push_back(std::move(one));
  }
  vibration["regions"] = std::move(regions);
  vibration["tiles"] = report.tiles.empty() ? Json(nullptr) : tiles(report);
  json["vibration"] = std::move(vibration);
  json["warnings"] = report.warnings;
  json["version"] = version();
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string vibration_csv(const VibrationSeries& series, const VibrationReport& report) {
  std::string text = "region,frame,seconds,x_px,y_px,error_px,gain,brightness\n";
  const auto value = [](double number) { return std::isfinite(number) ? fmt::format("{:.6f}", number) : ""; };
  for (std::size_t r = 0; r < series.regions.size(); ++r) {
    const RegionSeries& region = series.regions[r];
    for (std::size_t i = 0; i < region.x.size(); ++i) {
      const double seconds = report.clock.steady ? static_cast<double>(i) / report.clock.rate_hz
                                                 : series.seconds[i] - series.seconds[0];
      text += fmt::format("{},{},{:.6f},{},{},{},{:.6f},{:.6f}\n", r, i, seconds, value(region.x[i]),
                          value(region.y[i]), value(static_cast<double>(region.error[i])),
                          static_cast<double>(region.gain[i]), region.brightness[i]);
    }
  }
  return text;
}

std::string vibration_summary(const VibrationReport& report) {
  const SourceInfo& input = report.input;
  const std::string_view source = report.clock.source;
  const char* const whose = source == "given"       ? "as given"
                            : source == "capture"   ? "as the camera noted"
                            : source == "container" ? "as the container says"
                            : source == "unknown"   ? "the rate is unknown"
                                                    : "by the time stamps";
  std::string text = fmt::format(
      "{}\n{}\n{} {}{} of {}x{} at {:.6g} a second ({}), {:.3g} s\n", printable(input.path), verdict(report),
      report.frames, input.fields == Fields::none ? "frame" : "field", report.frames == 1 ? "" : "s",
      input.width, input.height, report.clock.rate_hz, whose, report.duration_s);
  for (std::size_t r = 0; r < report.regions.size(); ++r) {
    const RegionVibration& region = report.regions[r];
    const PeakSearch& search = region.motion.search;
    const Region& at = region.region;
    if (report.regions.size() > 1)
      text += fmt::format("region {},{},{},{}\n", at.x, at.y, at.width, at.height);
    if (search.searched)
      text += fmt::format(
          "noise         {:.2g} px between {:.3g} and {:.4g} Hz; {:.2g} px would be seen; drift {:.2g} px\n",
          search.noise, search.lowest_hz, 0.5 * report.clock.rate_hz, search.detectable,
          std::hypot(region.motion.drift_range[0], region.motion.drift_range[1]));
    text += peaks_text("motion", region.motion.peaks, false);
    text += peaks_text("brightness", region.brightness.peaks, true);
  }
  std::vector<VibrationPeak> elsewhere;
  for (const auto& one : report.elsewhere) elsewhere.push_back(one.peak);
  text += peaks_text("in tiles only", elsewhere, false);
  text += tiles_text(report);
  for (const std::string& warning : report.warnings) text += "note: " + printable(warning) + "\n";
  if (report.regions.empty() || !report.regions[0].motion.search.searched) return text;
  return text + fmt::format(
                    "Frequencies f above {:.4g} Hz show at a lower one: what is listed may be {:.4g} - f, "
                    "{:.4g} + f …\n",
                    0.5 * report.clock.rate_hz, report.clock.rate_hz, report.clock.rate_hz);
}

}  // namespace sfft::video
