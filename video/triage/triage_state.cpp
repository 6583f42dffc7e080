// SPDX-License-Identifier: Apache-2.0
// Stores every result as JSON, so that a resumed run reports the same events as an uninterrupted one.
#include "video/triage/triage_state.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "kernels/runtime/output_file.hpp"
#include "sfft/error.hpp"
#include "sfft/sfft.hpp"
#include "video/report/encoding.hpp"
#include "video/sources/file_stamp.hpp"

namespace sfft::video {

namespace {

constexpr const char* kSchema = "sfft-video-triage-state/2";
using Json = nlohmann::json;

/// Everything that a result depends on, except the file.
std::string fingerprint(const TriageOptions& options) {
  const Selection& selection = options.source.selection;
  const Region roi = selection.roi.value_or(Region{});
  const Thresholds& thresholds = options.change.thresholds;
  return fmt::format("{} {} {} {} {} | {} {} {} {} | {} {} {} {} {} {},{},{},{} | {} {} {} {} | {} {} | {}",
                     version(), options.change.k, options.change.max_samples, options.change.window_s,
                     options.change.settle_s, options.event.threshold, options.event.margin_before_s,
                     options.event.margin_after_s, options.event.min_length_s, selection.start_seconds,
                     selection.end_seconds, selection.start_frame, selection.end_frame, selection.every,
                     roi.x, roi.y, roi.width, roi.height, options.frames, options.source.skip_loop_filter,
                     options.thumbnails, options.source.track, thresholds.change_s, thresholds.switched_s,
                     to_string(options.areas));
}

/// File names may contain any bytes, so they are stored as arrays of numbers.
Json bytes_of(const std::string& text) {
  Json bytes = Json::array();
  for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
  return bytes;
}

std::string text_of(const Json& bytes) {
  std::string text;
  for (const Json& byte : bytes) text += static_cast<char>(byte.get<unsigned char>());
  return text;
}

Json to_json(const TriageEvent& event) {
  return {{"id", event.id},
          {"start_s", event.start_s},
          {"end_s", event.end_s},
          {"start_frame", event.start_frame},
          {"end_frame", event.end_frame},
          {"change_start_s", event.change_start_s},
          {"change_end_s", event.change_end_s},
          {"peak", event.peak},
          {"peak_s", event.peak_s},
          {"peak_frame", event.peak_frame},
          {"peak_x", event.peak_x},
          {"peak_y", event.peak_y},
          {"zones", event.zones},
          {"thumbnail", event.thumbnail},
          {"end_file_bytes", bytes_of(event.end_file)},
          {"end_file_s", event.end_file_s}};
}

TriageEvent event_from(const Json& json) {
  TriageEvent event;
  json.at("id").get_to(event.id);
  json.at("start_s").get_to(event.start_s);
  json.at("end_s").get_to(event.end_s);
  json.at("start_frame").get_to(event.start_frame);
  json.at("end_frame").get_to(event.end_frame);
  json.at("change_start_s").get_to(event.change_start_s);
  json.at("change_end_s").get_to(event.change_end_s);
  json.at("peak").get_to(event.peak);
  json.at("peak_s").get_to(event.peak_s);
  json.at("peak_frame").get_to(event.peak_frame);
  json.at("peak_x").get_to(event.peak_x);
  json.at("peak_y").get_to(event.peak_y);
  json.at("zones").get_to(event.zones);
  json.at("thumbnail").get_to(event.thumbnail);
  if (json.contains("end_file_bytes")) {  // an earlier version did not write it
    event.end_file = text_of(json.at("end_file_bytes"));
    json.at("end_file_s").get_to(event.end_file_s);
  }
  // The page inserts it without escaping.
  const bool picture = event.thumbnail.starts_with("data:image/png;base64,") &&
                       event.thumbnail.find_first_of("'\"<>&") == std::string::npos;
  if (!event.thumbnail.empty() && !picture) throw Error(ErrorCode::file_corrupt, "no picture");
  return event;
}

Json to_json(const TriageFile& file) {
  Json events = Json::array();
  for (const TriageEvent& event : file.events) events.push_back(to_json(event));
  Json timeline = Json::array();
  for (const TimelinePoint& point : file.timeline)
    timeline.push_back({std::round(point.seconds * 1000) / 1000, std::round(point.value * 100) / 100});
  return {
      {"path_bytes", bytes_of(file.path)},
      {"warnings", file.warnings},
      {"frames", file.frames},
      {"seconds", file.seconds},
      {"width", file.width},
      {"height", file.height},
      {"fps", file.fps},
      {"us_per_frame", file.us_per_frame},
      {"events", std::move(events)},
      {"timeline", std::move(timeline)},
      {"follows_bytes", bytes_of(file.follows)},
      {"sequence_s", file.sequence_s},
      {"begin", {{"source", file.begin.source}, {"seconds", file.begin.seconds}, {"utc", file.begin.utc}}}};
}

TriageFile file_from(const Json& json) {
  TriageFile file;
  file.path = text_of(json.at("path_bytes"));
  file.status = RunStatus::complete;
  file.resumed = true;
  json.at("warnings").get_to(file.warnings);
  json.at("frames").get_to(file.frames);
  json.at("seconds").get_to(file.seconds);
  json.at("width").get_to(file.width);
  json.at("height").get_to(file.height);
  json.at("fps").get_to(file.fps);
  json.at("us_per_frame").get_to(file.us_per_frame);
  if (json.contains("begin")) {  // an earlier version did not write it
    const Json& begin = json.at("begin");
    file.begin = {begin.at("source").get<WallClockSource>(), begin.at("seconds").get<double>(),
                  begin.at("utc").get<bool>()};
    file.follows = text_of(json.at("follows_bytes"));
    json.at("sequence_s").get_to(file.sequence_s);
  }
  for (const Json& event : json.at("events")) file.events.push_back(event_from(event));
  for (const Json& point : json.at("timeline"))
    file.timeline.push_back({point.at(0).get<double>(), point.at(1).get<double>()});
  return file;
}

}  // namespace

std::string sequence_stamp(std::span<const std::string> files) {
  if (files.size() < 2) return "";
  std::string all;
  for (const std::string& file : files) all += file + '\n' + file_stamp(file) + '\n';
  return fmt::format(" {} {:08x}", files.size(), crc32_of(all));
}

TriageState::TriageState(std::string path, const TriageOptions& options)
    : path_(std::move(path)), options_(fingerprint(options)) {
  std::error_code code;
  if (path_.empty() || !std::filesystem::exists(path_, code)) return;
  if (!std::filesystem::is_regular_file(path_, code))  // a device may never end
    throw Error(ErrorCode::file_unreadable, fmt::format("the state file '{}' is no regular file", path_));
  std::ifstream file(path_, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file)
    throw Error(ErrorCode::file_unreadable, fmt::format("the state file '{}' cannot be read", path_));
  if (text.empty()) return;
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != kSchema) throw Error(ErrorCode::file_version, "schema");
    other_options_ = json.at("options") != options_;
    if (other_options_) return;
    for (const Json& entry : json.at("files")) {
      TriageFile result = file_from(entry);
      std::string name = result.path;
      entries_[std::move(name)] = {std::move(result), entry.at("stamp").get<std::string>()};
    }
    if (!json.contains("parts")) return;  // an earlier version wrote none
    for (const Json& entry : json.at("parts")) {
      TriagePart part{file_from(entry), bytes_from_base64(entry.at("memory").get<std::string>())};
      if (crc32_of(part.memory) != entry.at("crc32").get<std::uint32_t>())
        throw Error(ErrorCode::file_corrupt, "memory");
      part.file.resumed = false;
      part.file.status = RunStatus::not_read;
      std::string name = part.file.path;
      parts_[std::move(name)] = {std::move(part), entry.at("stamp").get<std::string>()};
    }
  } catch (const std::exception&) {
    throw Error(
        ErrorCode::file_corrupt,
        fmt::format("'{}' is no state of triage, or it is damaged: give another name, or remove it", path_));
  }
}

std::optional<TriageFile> TriageState::find(const std::string& file, const std::string& context) const {
  const auto found = entries_.find(file);
  if (found == entries_.end() || found->second.stamp != file_stamp(file) + context) return std::nullopt;
  return found->second.file;
}

const TriagePart* TriageState::find_part(const std::string& file) const {
  const auto found = parts_.find(file);
  return found == parts_.end() || found->second.stamp != file_stamp(file) ? nullptr : &found->second.part;
}

void TriageState::keep(const TriageFile& file, const std::string& context) {
  std::string stamp = path_.empty() ? std::string() : file_stamp(file.path);
  if (stamp.empty() || file.status != RunStatus::complete) return;
  parts_.erase(file.path);
  stamp += context;
  entries_[file.path] = {file, std::move(stamp)};
  save_now_and_then();
}

void TriageState::keep_part(TriagePart part) {
  std::string stamp = path_.empty() ? std::string() : file_stamp(part.file.path);
  if (stamp.empty()) return;
  std::string name = part.file.path;
  parts_[std::move(name)] = {std::move(part), std::move(stamp)};
  save_now_and_then();
}

void TriageState::save_now_and_then() {
  unsaved_ = true;
  if (std::chrono::steady_clock::now() >= next_save_) save();
}

void TriageState::save() {
  if (!unsaved_) return;
  const auto start = std::chrono::steady_clock::now();
  Json files = Json::array();
  for (const auto& [name, entry] : entries_) {
    Json one = to_json(entry.file);
    one["stamp"] = entry.stamp;
    files.push_back(std::move(one));
  }
  Json parts = Json::array();
  for (const auto& [name, entry] : parts_) {
    Json one = to_json(entry.part.file);
    one["stamp"] = entry.stamp;
    one["memory"] = base64(entry.part.memory);
    one["crc32"] = crc32_of(entry.part.memory);
    parts.push_back(std::move(one));
  }
  const Json json{
      {"schema", kSchema}, {"options", options_}, {"files", std::move(files)}, {"parts", std::move(parts)}};
  detail::write_whole(path_, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  unsaved_ = false;
  const auto end = std::chrono::steady_clock::now();
  next_save_ = end + 20 * (end - start);
}

}  // namespace sfft::video
