// SPDX-License-Identifier: Apache-2.0
// Writes one line after another. Names from outside are quoted as each format requires.
#include "video/triage/triage_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfft/sfft.hpp"
#include "video/report/input_log.hpp"
#include "video/report/text.hpp"

namespace sfft::video {

namespace {

/// The keys that few events have.
std::string more_of(const TriageEvent& event) {
  std::string text;
  if (!event.end_file.empty())
    text += fmt::format(R"(,"end_file":{},"end_file_s":{})", json_string(event.end_file),
                        json_number(std::round(event.end_file_s * 1e6) / 1e6));
  std::string clips;
  for (const std::string& clip : event.clips) {
    if (clip.empty()) continue;
    if (!clips.empty()) clips += ',';
    clips += json_string(clip);
  }
  if (clips.empty()) return text;
  const auto first = std::ranges::find_if_not(event.clips, &std::string::empty);
  return text + fmt::format(R"(,"clip":{},"clips":[{}])", json_string(*first), clips);
}

std::string event_object(const TriageFile& file, const TriageEvent& event) {
  const auto number = [](double value) { return json_number(std::round(value * 1e6) / 1e6); };
  return fmt::format(
      R"({{"file":{},"id":{},"start_s":{},"end_s":{},"start_frame":{},"end_frame":{},"peak":{},"peak_s":{},)"
      R"("peak_frame":{},"peak_x":{},"peak_y":{},"change_start_s":{},"change_end_s":{},"wall_clock":{}{}{}}})",
      json_string(file.path), event.id, number(event.start_s), number(event.end_s), event.start_frame,
      event.end_frame, number(event.peak), number(event.peak_s), event.peak_frame, number(event.peak_x),
      number(event.peak_y), number(event.change_start_s), number(event.change_end_s),
      file.begin.known() ? json_string(iso_8601(file.begin, event.start_s)) : "null",
      zones_member(event.zones), more_of(event));
}

std::string file_object(const TriageFile& file) {
  std::string text = fmt::format(
      R"({{"file":{},"status":"{}","message":{},"frames":{},"seconds":{},"width":{},"height":{},"fps":{},)"
      R"("us_per_frame":{},"events":{},"resumed":{},"resumed_at_frame":{},{},"follows":{},"sequence_s":{},"warnings":[)",
      json_string(file.path), to_string(file.status), json_string(file.message), file.frames,
      json_number(file.seconds), file.width, file.height, file.fps > 0 ? json_number(file.fps) : "null",
      json_number(file.us_per_frame), file.events.size(), file.resumed,
      file.resumed_at_frame < 0 ? "null" : fmt::format("{}", file.resumed_at_frame),
      wall_clock_json(file.begin), file.follows.empty() ? "null" : json_string(file.follows),
      json_number(file.sequence_s));
  for (std::size_t i = 0; i < file.warnings.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ",", json_string(file.warnings[i]));
  if (file.resumed) return text + "]}";
  return text + fmt::format("],\"lost_frames\":{},\"gaps\":{},\"changes\":{},\"timing\":{}}}",
                            file.input_log.lost_frames, gaps_json(file.input_log),
                            changes_json(file.input_log), timing_json(file.input_log));
}

/// "H:MM:SS.s", for people.
std::string clock(double seconds) {
  const auto tenths = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds) * 10));
  return fmt::format("{}:{:02}:{:02}.{}", tenths / 36000, tenths / 600 % 60, tenths / 10 % 60, tenths % 10);
}

}  // namespace

std::string triage_line(const TriageFile& file, const TriageEvent& event) {
  return event_object(file, event) + "\n";
}

std::string triage_json(std::span<const TriageFile> files, double sensitivity) {
  std::string text = fmt::format(
      "{{\n\"schema\": \"sfft-video-triage/1\",\n\"version\": \"{}\",\n\"sensitivity\": {},\n\"files\": [",
      version(), json_number(sensitivity));
  for (std::size_t i = 0; i < files.size(); ++i)
    text += fmt::format("{}\n{}", i == 0 ? "" : ",", file_object(files[i]));
  text += "\n],\n\"events\": [";
  bool first = true;
  for (const TriageFile& file : files) {
    for (const TriageEvent& event : file.events) {
      text += fmt::format("{}\n{}", first ? "" : ",", event_object(file, event));
      first = false;
    }
  }
  return text + "\n]\n}\n";
}

std::string triage_csv(std::span<const TriageFile> files) {
  std::string text =
      "file,id,start_s,end_s,start_frame,end_frame,peak,peak_s,peak_x,peak_y,wall_clock,zones\n";
  for (const TriageFile& file : files) {
    for (const TriageEvent& event : file.events)
      text +=
          fmt::format("{},{},{:.3f},{:.3f},{},{},{:.3f},{:.3f},{:.0f},{:.0f},{},{}\n", csv_field(file.path),
                      event.id, event.start_s, event.end_s, event.start_frame, event.end_frame, event.peak,
                      event.peak_s, event.peak_x, event.peak_y, iso_8601(file.begin, event.start_s),
                      event.zones.empty() ? "" : csv_field(zone_list(event.zones)));
  }
  return text;
}

std::string triage_summary(std::span<const TriageFile> files) {
  constexpr std::size_t kShown = 40;
  std::string text;
  double seconds = 0;
  double happening = 0;
  std::size_t events = 0;
  for (const TriageFile& file : files) {
    seconds += file.seconds;
    events += file.events.size();
    if (file.status == RunStatus::not_read || file.frames == 0) {
      text += fmt::format("{}: not read\n", printable(file.path));
      continue;
    }
    text +=
        fmt::format("{}: {} event{} in {} frame{} of {}x{}, {}{}\n", printable(file.path), file.events.size(),
                    file.events.size() == 1 ? "" : "s", file.frames, file.frames == 1 ? "" : "s", file.width,
                    file.height, clock(file.seconds),
                    file.resumed ? ", from the state file"
                                 : fmt::format(", {:.0f} us per frame after decoding", file.us_per_frame));
    for (std::size_t i = 0; i < file.events.size(); ++i) {
      const TriageEvent& event = file.events[i];
      happening += event.end_s - event.start_s;
      if (i < kShown)
        text += fmt::format("  {} - {}  peak {:.1f} at {}{}{}\n", clock(event.start_s), clock(event.end_s),
                            event.peak, clock(event.peak_s), file.begin.known() ? ", from " : "",
                            iso_8601(file.begin, event.start_s));
      if (i == kShown) text += fmt::format("  … and {} more\n", file.events.size() - kShown);
    }
    if (const std::string timing = timing_text(file.input_log); !timing.empty())
      text += fmt::format("  timing: {}\n", timing);
    for (const std::string& warning : file.warnings)
      text += fmt::format("  WARNING {}\n", printable(warning));
  }
  if (files.size() > 1)
    text += fmt::format("{} events in {} files: {} of {}\n", events, files.size(), clock(happening),
                        clock(seconds));
  return text;
}

}  // namespace sfft::video
