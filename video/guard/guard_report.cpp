// SPDX-License-Identifier: Apache-2.0
// Writes JSON line by line, with events in their own schema. The page shows each source's first frame, its
// measurements over time and a table of its latest events.
#include "video/guard/guard_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfft/sfft.hpp"
#include "video/report/encoding.hpp"
#include "video/report/input_log.hpp"
#include "video/report/page_parts.hpp"
#include "video/report/text.hpp"

namespace sfft::video {

namespace {

constexpr double kWidth = 960, kRow = 96, kLeft = 64, kRight = 12, kTop = 30, kGap = 26;
constexpr std::size_t kShownEvents = 500;

const char* colour(EventKind kind) {
  switch (kind) {
    case EventKind::light:
      return "#eab308";
    case EventKind::flicker:
      return "#a16207";
    case EventKind::frozen:
      return "#0891b2";
    case EventKind::offline:
      return "#64748b";
    case EventKind::defocused:
      return "#7c3aed";
    case EventKind::covered:
      return "#dc2626";
    case EventKind::moved:
      return "#ea580c";
    default:
      return "#334155";
  }
}

struct Track {
  const char* label;
  const Timeline* line;
  double scale;  ///< factor on the values
  double min;    ///< the axis reaches at least this value
};

/// The body of the chart: one row per measurement over a common time axis, events as bands.
std::string chart(const WatchReport& report, double& height) {
  const Track tracks[] = {{"shift, px", &report.shift, 1, 2},
                          {"scene changed, %", &report.changed, 100, 50},
                          {"sharpness, %", &report.sharpness, 100, 120},
                          {"level, %", &report.level, 100, 60}};
  const double end = std::max(1e-3, report.seconds);
  const auto at = [&](double seconds) {
    return kLeft + std::clamp(seconds / end, 0.0, 1.0) * (kWidth - kLeft - kRight);
  };
  height = kTop + 4 * (kRow + kGap) + 18;
  std::string text;
  for (const Event& event : report.events) {
    const double from = at(event.start_s);
    const double to = std::isfinite(event.end_s) ? at(event.end_s) : kWidth - kRight;
    text += fmt::format(
        "<rect x='{:.1f}' y='{}' width='{:.1f}' height='{}' fill='{}' fill-opacity='0.22'><title>{} from "
        "{:.2f} "
        "s</title></rect>",
        from, kTop, std::max(1.5, to - from), 4 * (kRow + kGap) - kGap, colour(event.kind),
        to_string(event.kind), event.start_s);
    text += fmt::format("<text x='{:.1f}' y='{}' font-size='11' fill='{}'>{}</text>", from, kTop - 6,
                        colour(event.kind), to_string(event.kind));
  }
  double top = kTop;
  for (const Track& track : tracks) {
    double max = track.min;
    for (const auto& point : track.line->points()) max = std::max(max, point.value * track.scale);
    text += fmt::format("<line class='grid' x1='{}' x2='{}' y1='{:.1f}' y2='{:.1f}' stroke='#94a3b8'/>",
                        kLeft, kWidth - kRight, top + kRow, top + kRow);
    text += fmt::format(
        "<text class='tick' x='{}' y='{:.1f}' font-size='12' text-anchor='end' fill='#64748b'>{:.3g}</text>",
        kLeft - 6, top + 10, max);
    text += fmt::format(
        "<text class='tick' x='{}' y='{:.1f}' font-size='12' text-anchor='end' fill='#64748b'>0</text>",
        kLeft - 6, top + kRow);
    text += fmt::format("<text class='tick' x='{}' y='{:.1f}' font-size='12' fill='#64748b'>{}</text>",
                        kLeft + 4, top + 10, track.label);
    std::string points;
    for (const auto& point : track.line->points())
      points += fmt::format("{:.1f},{:.1f} ", at(point.seconds),
                            top + kRow - kRow * std::clamp(point.value * track.scale / max, 0.0, 1.0));
    text += fmt::format("<polyline points='{}' fill='none' stroke='#0b6bcb' stroke-width='1.4'/>", points);
    top += kRow + kGap;
  }
  for (int i = 0; i <= 8; ++i) {
    const double seconds = end * i / 8;
    text += fmt::format(
        "<text class='tick' x='{:.1f}' y='{:.1f}' font-size='12' text-anchor='middle' fill='#64748b'>{:.4g} "
        "s</text>",
        at(seconds), height - 6, seconds);
  }
  return text;
}

std::string number(double value, const char* unit) {
  return std::isfinite(value) ? fmt::format("{:.2f} {}", value, unit) : "–";
}

std::string table(const WatchReport& report, const std::string& page) {
  if (report.events.empty()) return "<p class='note'>No events.</p>";
  std::string text =
      "<div class='scroll'><table><tr><th>kind</th><th>when</th><th>from</th><th>to</th><th>frame</th>"
      "<th>confidence</th><th>shift</th><th></th></tr>";
  const std::size_t first = report.events.size() > kShownEvents ? report.events.size() - kShownEvents : 0;
  for (std::size_t i = first; i < report.events.size(); ++i) {
    const Event& event = report.events[i];
    const std::string picture =
        event.snapshot.empty() ? "" : fmt::format(" <a href={}>picture</a>", link_to(event.snapshot, page));
    text += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.2f}</td><td>{}</td><td>{}</td></"
        "tr>",
        to_string(event.kind), escape(event.wall_clock), number(event.start_s, "s"), number(event.end_s, "s"),
        event.start_frame, event.confidence, number(event.shift_px, "px"), escape(event.detail) + picture);
  }
  text += "</table></div>";
  if (first > 0 || report.events_left_out > 0)
    text += fmt::format("<p class='note'>{} earlier events are not shown.</p>",
                        static_cast<std::int64_t>(first) + report.events_left_out);
  return text;
}

/// The recordings of a source that has several.
std::string files_of(const WatchReport& report) {
  std::string list;
  for (const WatchReport::Recording& recording : report.recordings)
    list += fmt::format(R"({}{{"file":{},"start_s":{},"frames":{}}})", list.empty() ? "" : ",",
                        json_string(recording.path), json_number(recording.start_s), recording.frames);
  return list.empty() ? list : fmt::format(",\"files\":[{}]", list);
}

std::string event_object(const Event& event) {
  std::string line = event_line(event, event.open() ? EventPhase::start : EventPhase::end);
  line.pop_back();
  return line;
}

}  // namespace

std::string guard_json(std::span<const WatchReport> reports, double sensitivity) {
  std::string text =
      fmt::format("{{\n\"schema\": \"sfft-video-guard/1\",\n\"version\": \"{}\",\n", version());
  text += fmt::format("\"sensitivity\": {},\n\"sources\": [", json_number(sensitivity));
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const WatchReport& report = reports[i];
    text += fmt::format(
        "{}\n{{\"source\":{},\"status\":\"{}\",\"message\":{},\"frames\":{},\"seconds\":{},\"width\":{},"
        "\"height\":{},\"fps\":{},\"us_per_frame\":{},\"events_left_out\":{},\"counts\":{{",
        i == 0 ? "" : ",", json_string(report.input.path), to_string(report.status),
        json_string(report.message), report.frames, json_number(report.seconds), report.input.width,
        report.input.height, report.input.fps > 0 ? json_number(report.input.fps) : "null",
        json_number(report.us_per_frame), report.events_left_out);
    for (int kind = 0; kind < kEventKinds; ++kind)
      text += fmt::format("{}\"{}\":{}", kind == 0 ? "" : ",", to_string(static_cast<EventKind>(kind)),
                          report.counts[static_cast<std::size_t>(kind)]);
    text += "},\"warnings\":[";
    for (std::size_t n = 0; n < report.warnings.size(); ++n)
      text += fmt::format("{}{}", n == 0 ? "" : ",", json_string(report.warnings[n]));
    text += fmt::format(
        "],\"frames_made_up\":{},\"lost_frames\":{},\"gaps\":{},\"changes\":{},\"timing\":{},{}{}}}",
        report.made_up, report.input_log.lost_frames, gaps_json(report.input_log),
        changes_json(report.input_log), timing_json(report.input_log), wall_clock_json(report.input.begin),
        files_of(report));
  }
  text += "\n],\n\"events\": [";
  bool first = true;
  for (const WatchReport& report : reports) {
    for (const Event& event : report.events) {
      text += fmt::format("{}\n{}", first ? "" : ",", event_object(event));
      first = false;
    }
  }
  return text + "\n]\n}\n";
}

std::string guard_summary(std::span<const WatchReport> reports) {
  std::string text;
  for (const WatchReport& report : reports) {
    if (report.frames == 0 && report.events.empty()) {
      text += fmt::format("{}: no frames\n", printable(report.input.path));
      continue;
    }
    text += fmt::format("{}: {} frames of {}x{}, {:.1f} s, {:.0f} us per frame after decoding",
                        printable(report.input.path), report.frames, report.input.width, report.input.height,
                        report.seconds, report.us_per_frame);
    if (report.recordings.size() > 1) text += fmt::format(", in {} recordings", report.recordings.size());
    if (report.status != RunStatus::complete) text += fmt::format("  [{}]", printable(report.message));
    text += "\n";
    std::string kinds;
    for (int kind = 0; kind < kEventKinds; ++kind) {
      const std::int64_t count = report.counts[static_cast<std::size_t>(kind)];
      if (count > 0)
        kinds +=
            fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count, to_string(static_cast<EventKind>(kind)));
    }
    text += fmt::format("  events: {}\n", kinds.empty() ? "none" : kinds);
    if (report.input.begin.known())
      text += fmt::format("  began at {} ({})\n", iso_8601(report.input.begin, 0),
                          to_string(report.input.begin.source));
    if (const std::string timing = timing_text(report.input_log); !timing.empty())
      text += fmt::format("  timing: {}\n", timing);
    for (const std::string& warning : report.warnings)
      text += fmt::format("  WARNING {}\n", printable(warning));
  }
  return text;
}

std::string guard_page(std::span<const WatchReport> reports, double sensitivity, const std::string& path) {
  std::string body =
      fmt::format("<h1>sfft-video guard</h1><p class='sub'>{} source{}, sensitivity {:.3g} · sfft {}</p>",
                  reports.size(), reports.size() == 1 ? "" : "s", sensitivity, version());
  for (const WatchReport& report : reports) {
    body +=
        fmt::format("<h2>{}</h2><p class='sub'>{} frames of {}×{}, {:.1f} s</p>", escape(report.input.path),
                    report.frames, report.input.width, report.input.height, report.seconds);
    if (report.status != RunStatus::complete)
      body += fmt::format("<p class='status'>{}</p>", escape(report.message));
    for (const std::string& warning : report.warnings)
      body += fmt::format("<p class='status'>{}</p>", escape(warning));
    if (report.frames == 0) continue;
    double height = 0;
    const std::string inside = chart(report, height);
    body += fmt::format(
        "<figure class='chart'><figcaption>What was measured</figcaption><svg viewBox='0 0 {} {:.0f}' "
        "role='img' "
        "aria-label='measurements over time'>{}</svg></figure>",
        kWidth, height, inside);
    body += table(report, path);
    body += fmt::format("<figure><figcaption>The scene</figcaption><img alt='first frame' src='{}'></figure>",
                        data_uri(grey_image(report.first_frame)));
  }
  return whole_page("sfft-video guard", body);
}

std::string guard_svg(const WatchReport& report) {
  double height = 0;
  const std::string inside = chart(report, height);
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {} {:.0f}' font-family='sans-serif'>"
      "<rect width='100%' height='100%' fill='white'/>{}</svg>\n",
      kWidth, height, inside);
}

}  // namespace sfft::video
