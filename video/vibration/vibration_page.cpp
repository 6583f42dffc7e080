// SPDX-License-Identifier: Apache-2.0
// Writes the HTML page: verdict, peaks, spectra, time series and the map of tiles over the first frame.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfft/sfft.hpp"
#include "video/report/hdf5_file.hpp"
#include "video/report/page_parts.hpp"
#include "video/report/plot.hpp"
#include "video/report/text.hpp"
#include "video/vibration/analysis.hpp"
#include "video/vibration/vibration_report.hpp"

namespace sfft::video {

namespace {

std::vector<PlotPoint> points(const std::vector<double>& x, const std::vector<double>& y, std::size_t first) {
  std::vector<PlotPoint> result;
  for (std::size_t i = first; i < std::min(x.size(), y.size()); ++i) result.push_back({x[i], y[i]});
  return result;
}

/// Adds the amplitude of all channels together, and that of their noise.
void add_spectrum(Plot& plot, const PeakSearch& search, double scale) {
  std::vector<double> amplitude, noise;
  for (std::size_t i = 0; i < search.frequency_hz.size(); ++i) {
    double power = 0;
    double floor = 0;
    for (std::size_t c = 0; c < search.amplitude.size(); ++c) {
      power += std::norm(search.amplitude[c][i]);
      floor += search.noise_amplitude[c][i] * search.noise_amplitude[c][i];
    }
    amplitude.push_back(scale * std::sqrt(power));
    noise.push_back(floor > 0 ? scale * std::sqrt(floor) : NAN);
  }
  plot.lines.push_back({"", "amplitude", points(search.frequency_hz, amplitude, 1)});
  plot.lines.push_back({"third", "noise floor", points(search.frequency_hz, noise, 1)});
}

void add_marks(Plot& plot, const std::vector<VibrationPeak>& peaks) {
  constexpr std::size_t kMarked = 5;
  for (std::size_t i = 0; i < std::min(kMarked, peaks.size()); ++i)
    plot.marks.push_back(
        {peaks[i].frequency_hz,
         fmt::format("{:.2f} Hz{}", peaks[i].frequency_hz,
                     peaks[i].alias ? fmt::format(" (perhaps {:.2f})", peaks[i].alias->hz) : "")});
}

Plot spectrum_plot(const Signal& signal, bool light) {
  Plot plot{light ? "Spectrum of the brightness" : "Spectrum of the motion", "Hz",
            light ? "% of the mean" : "px", Plot::Axes::log_y};
  add_spectrum(plot, signal.search, light ? 100 : 1);
  add_marks(plot, signal.peaks);
  return plot;
}

Plot series_plot(const Signal& signal, double rate_hz) {
  Plot plot{"Place against time", "s", "px"};
  const char* const names[] = {"x (to the right)", "y (downwards)"};
  const char* const classes[] = {"", "second"};
  for (std::size_t c = 0; c < std::min<std::size_t>(2, signal.rest.size()); ++c) {
    PlotLine line{classes[c], names[c], {}};
    for (std::size_t i = 0; i < signal.rest[c].size(); ++i)
      line.points.push_back({static_cast<double>(i) / rate_hz, signal.rest[c][i] + signal.drift[c][i]});
    plot.lines.push_back(std::move(line));
  }
  for (std::size_t c = 0; c < std::min<std::size_t>(2, signal.drift.size()); ++c) {
    PlotLine line{"third", c == 0 ? "drift of x" : "drift of y", {}};
    for (std::size_t i = 0; i < signal.drift[c].size(); ++i)
      line.points.push_back({static_cast<double>(i) / rate_hz, signal.drift[c][i]});
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

std::string peak_table(const std::vector<VibrationPeak>& peaks, bool light) {
  std::string text = fmt::format(
      "<div class='scroll'><table><tr><th>frequency</th><th>±</th><th>amplitude</th><th>±</th>{}<th>over "
      "noise</th><th>by chance</th><th>may be</th></tr>",
      light ? "" : "<th>direction</th>");
  for (const VibrationPeak& peak : peaks) {
    const double scale = light ? 100 : 1;
    const char* const unit = light ? "%" : "px";
    std::string may_be =
        peak.alias ? fmt::format("<b>{:.3f} Hz</b> ({})", peak.alias->hz, escape(peak.alias->reason))
                   : std::string();
    for (const double candidate : peak.alias_candidates_hz) {
      if (!peak.alias) may_be += fmt::format("{}{:.2f}", may_be.empty() ? "" : ", ", candidate);
    }
    if (peak.slow) may_be += " · slow: sway or drift";
    if (peak.coding) may_be += " · perhaps coding";
    if (peak.perhaps_brightness) may_be += " · perhaps uneven light";
    text += fmt::format(
        "<tr><td>{:.4f} Hz</td><td>{:.4f}</td><td>{:.4f} {}</td><td>{:.4f}</td>{}<td>{:.1f} "
        "×</td><td>{:.1g}</td><td>{}</td></tr>",
        peak.frequency_hz, peak.standard_error_hz, scale * peak.amplitude, unit, scale * peak.amplitude_error,
        light ? "" : fmt::format("<td>{:.0f}°</td>", peak.direction_deg), peak.signal_to_noise,
        peak.false_alarm_probability, may_be);
  }
  return text + "</table></div>";
}

std::string map_figure(const VibrationSeries& series, const VibrationReport& report) {
  if (report.tiles.empty()) return {};
  const Frame& frame = series.first_frame;
  std::string text = fmt::format(
      "<figure><figcaption>{}</figcaption><svg viewBox='0 0 {} {}' role='img' aria-label='map of tiles'>"
      "<image width='{}' height='{}' preserveAspectRatio='none' href='{}'/>",
      report.map_hz ? fmt::format("Where it vibrates at {:.3f} Hz", *report.map_hz) : "Tiles: none vibrates",
      frame.width, frame.height, frame.width, frame.height, data_uri(grey_image(frame)));
  double max = 0;
  for (const TileVibration& tile : report.tiles) max = std::max(max, tile.moves ? tile.amplitude_px : 0);
  for (const TileVibration& tile : report.tiles) {
    const Region& at = tile.region;
    const auto colour = ramp(max > 0 ? 0.25 + 0.75 * tile.amplitude_px / max : 0);
    const std::string fill =
        tile.moves ? fmt::format("rgb({},{},{})", colour[0], colour[1], colour[2]) : fmt::format("none");
    std::string title;
    if (!tile.structured) {
      title = "no structure: motion cannot be seen";
    } else {
      title = tile.moves ? fmt::format("{:.4f} px", tile.amplitude_px)
                         : fmt::format("not above noise; {:.2g} px would be seen", tile.detectable_px);
    }
    text += fmt::format(
        "<rect x='{}' y='{}' width='{}' height='{}' fill='{}' fill-opacity='.55' stroke='#fff' "
        "stroke-opacity='.35' pointer-events='all'><title>{}</title></rect>",
        at.x, at.y, at.width, at.height, fill, title);
    if (tile.moves)
      text += fmt::format(
          "<text x='{}' y='{}' text-anchor='middle' font-size='{:.0f}' fill='#fff' stroke='#000' "
          "stroke-width='.3' pointer-events='none'>{:.2f}</text>",
          at.x + at.width / 2, at.y + at.height / 2, 0.24 * static_cast<double>(at.width), tile.amplitude_px);
  }
  return text +
         "</svg><p class='note'>Numbers: amplitude in pixels, of tiles whose peak is above noise. Hover over "
         "a tile "
         "for its own limit.</p></figure>";
}

std::string section(const VibrationReport& report, const RegionVibration& region) {
  const Region& at = region.region;
  std::string body;
  if (report.regions.size() > 1)
    body += fmt::format("<h2>Region {},{},{},{}</h2>", at.x, at.y, at.width, at.height);
  if (!region.brightness.search.searched) return body;
  if (!region.motion.peaks.empty())
    body += fmt::format("<h2>Motion</h2>{}", peak_table(region.motion.peaks, false));
  if (region.motion.search.searched)
    body += figure(spectrum_plot(region.motion, false)) +
            figure(series_plot(region.motion, report.clock.rate_hz));
  if (!region.brightness.peaks.empty())
    body += fmt::format("<h2>Brightness</h2>{}", peak_table(region.brightness.peaks, true));
  body += figure(spectrum_plot(region.brightness, true));
  return body;
}

}  // namespace

std::string vibration_page(const VibrationSeries& series, const VibrationReport& report) {
  const SourceInfo& input = report.input;
  std::string body =
      fmt::format("<h1>{}</h1><p class='sub'>{} frame{} of {}×{}, {:.6g} a second · sfft {}</p>",
                  escape(input.path), report.frames, report.frames == 1 ? "" : "s", input.width, input.height,
                  report.clock.rate_hz, version());
  if (report.status != RunStatus::complete)
    body += fmt::format("<p class='status'>{}</p>", escape(report.message));
  for (const std::string& warning : report.warnings)
    body += fmt::format("<p class='status'>{}</p>", escape(warning));
  body += fmt::format("<p>{}</p>", escape(verdict(report)));
  if (!report.regions.empty() && !report.regions[0].motion.peaks.empty()) {
    const VibrationPeak& first =
        report.in_a_part_alone() ? report.elsewhere[0].peak : report.regions[0].motion.peaks[0];
    body += fmt::format(
        "<div class='tiles'>{}{}{}</div>",
        tile(fmt::format("{:.3f} Hz", first.frequency_hz), "strongest vibration"),
        tile(fmt::format("{:.4f} px", first.amplitude), "its amplitude"),
        tile(fmt::format("{:.2g} px", report.regions[0].motion.search.noise), "noise at one frequency"));
  }
  if (!report.regions.empty()) {
    body += map_figure(series, report);
    for (const RegionVibration& region : report.regions) body += section(report, region);
  }
  if (!report.elsewhere.empty()) {
    std::vector<VibrationPeak> peaks;
    for (const auto& one : report.elsewhere) peaks.push_back(one.peak);
    body += fmt::format("<h2>In tiles only</h2>{}", peak_table(peaks, false));
  }
  return whole_page(input.path, body);
}

std::string vibration_picture(const VibrationReport& report) {
  if (report.regions.empty()) return svg_file({"Nothing was read", "", ""});
  return svg_file(spectrum_plot(report.regions[0].motion, false));
}

void write_vibration_arrays(detail::OutputFile& output, const VibrationSeries& series,
                            const VibrationReport& report) {
  std::vector<NamedArray> arrays;
  const auto length = [](const auto& values) { return static_cast<std::int64_t>(values.size()); };
  const double rate[] = {report.clock.rate_hz};
  arrays.push_back({"rate_hz", {1}, std::span<const double>(rate), "Hz"});
  if (!series.seconds.empty())
    arrays.push_back({"seconds", {length(series.seconds)}, std::span<const double>(series.seconds), "s"});
  for (std::size_t r = 0; r < report.regions.size(); ++r) {
    const std::string group = fmt::format("regions/{}/", r);
    const RegionSeries& from = series.regions[r];
    arrays.push_back({group + "x", {length(from.x)}, std::span<const double>(from.x), "px"});
    arrays.push_back({group + "y", {length(from.y)}, std::span<const double>(from.y), "px"});
    arrays.push_back(
        {group + "brightness", {length(from.brightness)}, std::span<const double>(from.brightness)});
    const auto add = [&](const std::string& name, const Signal& signal,
                         const std::vector<const char*>& channels) {
      const PeakSearch& search = signal.search;
      if (!search.searched) return;
      arrays.push_back({fmt::format("{}{}/frequency", group, name),
                        {length(search.frequency_hz)},
                        std::span<const double>(search.frequency_hz),
                        "Hz"});
      for (std::size_t c = 0; c < channels.size(); ++c) {
        arrays.push_back({fmt::format("{}{}/{}", group, name, channels[c]),
                          {length(search.amplitude[c])},
                          std::span<const std::complex<double>>(search.amplitude[c])});
        arrays.push_back({fmt::format("{}{}/{}_noise", group, name, channels[c]),
                          {length(search.noise_amplitude[c])},
                          std::span<const double>(search.noise_amplitude[c])});
        arrays.push_back({fmt::format("{}{}/{}_drift", group, name, channels[c]),
                          {length(signal.drift[c])},
                          std::span<const double>(signal.drift[c])});
      }
    };
    add("motion_spectrum", report.regions[r].motion, {"x", "y"});
    add("brightness_spectrum", report.regions[r].brightness, {"brightness"});
  }
  for (std::size_t t = 0; t < report.tiles.size(); ++t) {
    const std::string group = fmt::format("tiles/{}/", t);
    const RegionSeries& from = series.tiles[t];
    arrays.push_back({group + "x", {length(from.x)}, std::span<const double>(from.x), "px"});
    arrays.push_back({group + "y", {length(from.y)}, std::span<const double>(from.y), "px"});
    if (!report.tiles[t].spectrum.empty())
      arrays.push_back({group + "amplitude",
                        {length(report.tiles[t].spectrum)},
                        std::span<const float>(report.tiles[t].spectrum),
                        "px"});
  }
  write_arrays(output, arrays);
}

}  // namespace sfft::video
