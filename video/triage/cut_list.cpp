// SPDX-License-Identifier: Apache-2.0
// Converts seconds to the time stamps of a file, or to time codes (SMPTE ST 12-1).
#include "video/triage/triage_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "video/report/text.hpp"
#if SFFT_HAVE_LIBAV
#include "video/sources/recording_index.hpp"
#include "video/sources/track.hpp"
#endif

namespace sfft::video {

namespace {

bool has_line_end(const std::string& path) {
  return path.find_first_of("\r\n") != std::string::npos;
}

std::string quoted_path(const std::string& path) {
  std::error_code code;
  const std::filesystem::path absolute = std::filesystem::absolute(path, code);
  std::string name;
  for (const char c : code ? path : absolute.string()) name += c == '\'' ? "'\\''" : std::string(1, c);
  return name;
}

/// Writes three decimals, or up to six if the value has them. It rounds up, because FFmpeg seeks to a stamp
/// at or before this one.
std::string stamp_text(double seconds) {
  const auto micro = static_cast<std::int64_t>(std::ceil(seconds * 1e6 - 0.01));
  std::string text =
      fmt::format("{}{}.{:06}", micro < 0 ? "-" : "", std::abs(micro) / 1000000, std::abs(micro) % 1000000);
  while (text.ends_with('0') && text[text.size() - 4] != '.') text.pop_back();
  return text;
}

std::string entry(const std::string& path, double from, double to) {
  return fmt::format("file '{}'\ninpoint {}\noutpoint {}\n", quoted_path(path), stamp_text(from),
                     stamp_text(to));
}

using Parts = std::vector<EventPart>;

#if SFFT_HAVE_LIBAV
/// Returns nothing if this is not a file that FFmpeg can read.
std::optional<RecordingIndex> index_of(const TriageFile& file, const Parts& parts, int track) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(file.path, code)) return std::nullopt;
  double end = 0;
  for (const EventPart& part : parts) end = std::max(end, part.end_s);
  try {
    RecordingIndex index(file.path, track, nullptr, end);
    if (!index.empty()) return index;
  } catch (const InputError&) {  // it was read by other means
  }
  return std::nullopt;
}

std::string clips_of(std::span<const TriageFile> files, const std::string& path, const Parts& parts,
                     std::vector<std::string>& problems) {
  std::string text;
  std::size_t missing = 0;
  for (const EventPart& part : parts) {
    const std::vector<std::string>& clips = files[part.file].events[part.event].clips;
    if (part.number >= clips.size() || clips[part.number].empty())
      ++missing;
    else
      text += fmt::format("file '{}'\n", quoted_path(clips[part.number]));
  }
  if (missing == 0) return text;
  problems.push_back(
      fmt::format("the cut list leaves out {} event{} of '{}': its clock restarts, so that time stamps do "
                  "not name a place. "
                  "--clips cuts them, and the list then names the clips",
                  missing, missing == 1 ? "" : "s", printable(path)));
  return text + fmt::format("# left out, because the clock of this file restarts: {}\n", printable(path));
}

#endif

std::string entries_of(std::span<const TriageFile> files, std::size_t number, const Parts& parts, int track,
                       std::vector<std::string>& problems) {
  const TriageFile& file = files[number];
  std::string text;
#if SFFT_HAVE_LIBAV
  if (const std::optional<RecordingIndex> index = index_of(file, parts, track)) {
    if (index->restarts()) return clips_of(files, file.path, parts, problems);
    for (const EventPart& part : parts) {
      const std::size_t begin = index->begin_for(part.start_s);
      const RecordingIndex::Packet& key = index->packets()[begin];
      // FFmpeg ends at the first packet, of any track, whose decoding stamp is at or after the end.
      const double sound = index->packets()[index->end_for(begin, part.end_s) - 1].others + 1e-3;
      const double end = index->stamp_at(key, part.end_s);
      // FFmpeg seeks by decoding stamps in files without an index.
      const bool earlier = !index->indexed() && key.decode_stamp < key.stamp;
      const double from = (earlier ? key.decode_stamp : key.stamp) - index->search_error();
      text += entry(file.path, from, sound > end ? sound : end);
    }
    return text;
  }
#else
  static_cast<void>(track);
  static_cast<void>(problems);
#endif
  for (const EventPart& part : parts) text += entry(file.path, part.start_s, part.end_s);
  return text;
}

/// How the frames of a file are numbered.
struct TimeCode {
  double frames_per_second = 25;
  std::int64_t base = 25;  ///< frame numbers per second of time code
  bool drop = false;       ///< every minute but each tenth skips two numbers per 30 of `base`
  std::int64_t first = 0;  ///< number of the first frame

  std::int64_t dropped_per_minute() const { return drop ? base / 15 : 0; }
  std::int64_t frame_at(double seconds) const { return std::llround(seconds * frames_per_second); }

  std::string text(std::int64_t frame) const {
    if (drop) {
      const std::int64_t minute = 60 * base - dropped_per_minute();
      const std::int64_t ten = 10 * minute + dropped_per_minute();
      const std::int64_t rest = frame % ten;
      frame += 9 * dropped_per_minute() * (frame / ten);
      if (rest >= 60 * base) frame += dropped_per_minute() * ((rest - dropped_per_minute()) / minute);
    }
    const std::int64_t seconds = frame / base;
    return fmt::format("{:02}:{:02}:{:02}{}{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60,
                       drop ? ';' : ':', frame % base);
  }

  /// Parses "HH:MM:SS:FF". Another separator before the frames marks drop-frame time code.
  void begin_at(const std::string& code) {
    int hours = 0;
    int minutes = 0;
    int seconds = 0;
    int frames = 0;
    char sign = ':';
    if (std::sscanf(code.c_str(), "%d:%d:%d%c%d", &hours, &minutes, &seconds, &sign, &frames) != 5) return;
    if (base % 30 == 0) drop = sign != ':';
    const std::int64_t all = 60 * std::int64_t{hours} + minutes;
    first = (60 * all + seconds) * base + frames - dropped_per_minute() * (all - all / 10);
  }
};

#if SFFT_HAVE_LIBAV
/// The time code that a file states; empty if it states none.
std::string stated_time_code(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return "";
  try {
    const libav::Format format = open_container(path, nullptr);
    return stated_by(*format, "timecode");
  } catch (const InputError&) {  // it was read by other means
    return "";
  }
}
#endif

TimeCode time_code_of(const TriageFile& file) {
  TimeCode code;
  const double rate = file.fps > 0 ? file.fps : 25;
  code.base = std::max<std::int64_t>(1, std::llround(rate));
  const auto base = static_cast<double>(code.base);
  const bool ntsc = std::fabs(rate * 1.001 - base) < 0.3 * std::fabs(rate - base);
  code.frames_per_second = ntsc ? base / 1.001 : base;
  code.drop = ntsc && code.base % 30 == 0;
#if SFFT_HAVE_LIBAV
  code.begin_at(stated_time_code(file.path));
#endif
  return code;
}

}  // namespace

std::vector<std::vector<EventPart>> event_parts(std::span<const TriageFile> files) {
  std::vector<std::vector<EventPart>> parts(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t e = 0; e < files[i].events.size(); ++e) {
      const TriageEvent& event = files[i].events[e];
      double from = event.start_s;
      double to = event.end_s;
      std::size_t number = 0;
      for (std::size_t at = i;; ++at) {
        const bool last = event.end_file.empty() || files[at].path == event.end_file ||
                          at + 1 == files.size() || files[at + 1].follows != files[at].path;
        const double end = last ? to : files[at].seconds;
        if (end > from) parts[at].push_back({from, end, i, e, number++});
        if (last) break;
        from = 0;
        to -= files[at].seconds;
      }
    }
  }
  return parts;
}

std::string triage_ffconcat(std::span<const TriageFile> files, int track,
                            std::vector<std::string>& problems) {
  std::string text = "ffconcat version 1.0\n";
  const std::vector<Parts> parts = event_parts(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const TriageFile& file = files[i];
    if (parts[i].empty()) continue;
    if (has_line_end(file.path)) {
      text += fmt::format("# left out, because its name has a line end: {}\n", printable(file.path));
      continue;
    }
    text += entries_of(files, i, parts[i], track, problems);
  }
  return text;
}

std::string triage_edl(std::span<const TriageFile> files) {
  std::string text = "TITLE: sfft-video triage\n";
  const auto mode = [](bool drop) { return drop ? "FCM: DROP FRAME\n\n" : "FCM: NON-DROP FRAME\n\n"; };
  std::optional<TimeCode> record;  // numbering of the first file, but from 0
  std::int64_t recorded = 0;       // frames
  std::int64_t number = 0;
  bool drop = false;
  const std::vector<Parts> parts = event_parts(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const TriageFile& file = files[i];
    if (parts[i].empty()) continue;
    const TimeCode source = time_code_of(file);
    if (!record || source.drop != drop) text += mode(source.drop);
    drop = source.drop;
    if (!record) {
      record = source;
      record->first = 0;
    }
    for (const EventPart& part : parts[i]) {
      const std::int64_t from = source.frame_at(part.start_s);
      const std::int64_t to = source.frame_at(part.end_s);
      const std::int64_t length = record->frame_at(static_cast<double>(to - from) / source.frames_per_second);
      text += fmt::format("{:03}  AX       V     C        {} {} {} {}\n* FROM CLIP NAME: {}\n\n", ++number,
                          source.text(source.first + from), source.text(source.first + to),
                          record->text(recorded), record->text(recorded + length), printable(file.path));
      recorded += length;
    }
  }
  return record ? text : text + mode(false);
}

}  // namespace sfft::video
