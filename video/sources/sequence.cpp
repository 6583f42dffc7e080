// SPDX-License-Identifier: Apache-2.0
// Reads the headers of all files, sorts those of one recorder by date, and links neighbours.
#include "video/sources/source.hpp"

#if SFFT_HAVE_LIBAV
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

#include "video/sources/track.hpp"

namespace sfft::video {

namespace {

constexpr double kDateTolerance = 2, kStampTolerance = 0.3;  // seconds

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string without_digits(std::string_view text) {
  std::string rest;
  for (const char c : text)
    if (!is_digit(c)) rest += c;
  return rest;
}

/// Whether a folder's name is a year, month, day, hour, or date.
bool is_date_folder(std::string_view name) {
  const auto numbers = std::ranges::count_if(name, is_digit);
  return (numbers == 2 || numbers == 4 || numbers == 8) &&
         without_digits(name).find_first_not_of("-_.") == std::string::npos;
}

/// The part of a path that all files of one recorder share.
std::string common_name(const std::string& path, bool in_folder) {
  const std::size_t slash = path.rfind('/');
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  if (const auto named = named_time(path)) {
    std::string key;
    std::string_view folders = std::string_view(path).substr(0, begin);
    while (!folders.empty()) {
      const std::size_t end = folders.find('/');
      const std::string_view name = folders.substr(0, end);
      if (in_folder || !is_date_folder(name)) key += std::string(name) + "/";
      folders.remove_prefix(end == std::string_view::npos ? folders.size() : end + 1);
    }
    return key + path.substr(begin, named->begin - begin) + "*" +
           without_digits(path.substr(named->begin + named->length));
  }
  std::size_t end = path.size();
  while (end > begin && !is_digit(path[end - 1])) --end;
  std::size_t first = end;
  while (first > begin && is_digit(path[first - 1])) --first;
  return path.substr(0, first) + "*" + path.substr(end);
}

struct Piece {
  std::size_t input = 0;
  std::tuple<int, int, int, int, int, bool> coding;  ///< codec, size, pixel format, orientation
  WallClock begin;
  double stamp = 0, seconds = 0;  ///< stamp of its beginning; length (0: unknown)
};

std::optional<Piece> look_at(const std::string& path, int track, const std::atomic<bool>& stop) {
  std::error_code code;
  if (path.ends_with(".y4m") || !std::filesystem::is_regular_file(path, code)) return std::nullopt;
  try {
    const libav::Format format = open_container(path, &stop);
    const AVStream& stream = *format->streams[choose_video_track(*format, track)];
    const AVCodecParameters& coded = *stream.codecpar;
    const Orientation shown = orientation_of(stream);
    Piece piece;
    piece.coding = {coded.codec_id, coded.width,         coded.height,
                    coded.format,   shown.quarter_turns, shown.mirrored};
    const auto named = named_time(path);
    piece.begin = named ? named->clock : stated_begin(*format, 0);
    if (piece.begin.source == WallClockSource::time_code) piece.begin = {};
    if (format->start_time != AV_NOPTS_VALUE)
      piece.stamp = static_cast<double>(format->start_time) / AV_TIME_BASE;
    if (format->duration > 0 && format->duration_estimation_method != AVFMT_DURATION_FROM_BITRATE)
      piece.seconds = static_cast<double>(format->duration) / AV_TIME_BASE;
    return piece;
  } catch (const InputError&) {  // reading the input reports why
    return std::nullopt;
  }
}

bool follows_by_date(const Piece& next, const Piece& before) {
  return next.begin.known() && next.begin.source == before.begin.source &&
         next.begin.utc == before.begin.utc &&
         std::fabs(next.begin.seconds - before.begin.seconds - before.seconds) <= kDateTolerance;
}

bool follows_by_stamps(const Piece& next, const Piece& before) {
  return next.stamp > 0.5 && std::fabs(next.stamp - before.stamp - before.seconds) <= kStampTolerance;
}

/// Whether each piece, in order of time, begins after the previous one has ended.
bool disjoint(const std::vector<Piece>& pieces) {
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const Piece& before = pieces[i - 1];
    if (!before.begin.known() ||
        pieces[i].begin.seconds < before.begin.seconds + before.seconds - kDateTolerance ||
        pieces[i].begin.seconds <= before.begin.seconds)
      return false;
  }
  return true;
}

/// next[i] becomes the input that continues input i.
void link(std::vector<Piece> pieces, std::vector<std::size_t>& next) {
  std::vector<Piece> dated = pieces;
  std::ranges::stable_sort(dated, {}, [](const Piece& piece) { return piece.begin.seconds; });
  const bool by_date = disjoint(dated);
  if (by_date) pieces = std::move(dated);
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const Piece& before = pieces[i - 1];
    if (pieces[i].coding != before.coding || !(before.seconds > 0)) continue;
    if (follows_by_stamps(pieces[i], before) || (by_date && follows_by_date(pieces[i], before)))
      next[before.input] = pieces[i].input;
  }
}

}  // namespace

std::vector<std::vector<std::string>> find_sequences(const std::vector<std::string>& inputs, int track,
                                                     const std::atomic<bool>& stop) {
  const std::size_t none = inputs.size();
  std::vector<std::size_t> next(inputs.size(), none);
  std::map<std::string, std::vector<Piece>> recorders;
  for (std::size_t i = 0; inputs.size() > 1 && i < inputs.size() && !stop; ++i) {
    std::optional<Piece> piece = look_at(inputs[i], track, stop);
    if (!piece) continue;
    piece->input = i;
    recorders[common_name(inputs[i], false)].push_back(*piece);
  }
  for (const auto& [name, pieces] : recorders) {
    // Folder names that look like dates may be camera numbers, so recordings that overlap are grouped by
    // folder.
    std::vector<Piece> sorted = pieces;
    std::ranges::stable_sort(sorted, {}, [](const Piece& piece) { return piece.begin.seconds; });
    std::map<std::string, std::vector<Piece>> groups;
    for (const Piece& piece : pieces)
      groups[disjoint(sorted) ? "" : common_name(inputs[piece.input], true)].push_back(piece);
    for (const auto& [folder, group] : groups) link(group, next);
  }
  std::vector<bool> continued(inputs.size(), false);
  for (const std::size_t to : next)
    if (to != none) continued[to] = true;
  std::vector<std::vector<std::string>> sequences;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (continued[i]) continue;
    sequences.emplace_back();
    for (std::size_t at = i; at != none; at = next[at]) sequences.back().push_back(inputs[at]);
  }
  return sequences;
}

}  // namespace sfft::video
#else

namespace sfft::video {

std::vector<std::vector<std::string>> find_sequences(const std::vector<std::string>& inputs, int,
                                                     const std::atomic<bool>&) {
  std::vector<std::vector<std::string>> alone;
  for (const std::string& input : inputs) alone.push_back({input});
  return alone;
}

}  // namespace sfft::video
#endif
