// SPDX-License-Identifier: Apache-2.0
// Writes the reports of a merged run from the stored reports of its recordings.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "video/report/report.hpp"
#include "video/report/text.hpp"
#include "video/shards/merge.hpp"

namespace sfft::video {

namespace {

using Json = nlohmann::ordered_json;

/// A nested number as a CSV field; empty if it is null or missing.
std::string field(const Json& report, const char* part, const char* name) {
  const auto found = report.find(part);
  if (found == report.end() || !found->is_object()) return {};
  const auto value = found->find(name);
  return value == found->end() || !value->is_number() ? std::string() : value->dump();
}

std::int64_t count(const Json& report, const char* part, const char* name) {
  const std::string text = field(report, part, name);
  return text.empty() || !report[part][name].is_number_integer() ? 0 : report[part][name].get<std::int64_t>();
}

}  // namespace

std::string merged_json(const MergedRun& merged) {
  std::vector<std::string> reports;
  for (const ShardRecord& record : merged.recordings)
    reports.push_back(Json::parse(record.report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  return json_reports(reports, merged.status, merged.message);
}

std::string merged_csv(const MergedRun& merged) {
  std::string text =
      "input,path,status,message,width,height,frames_read,transformed,k,median_us,verified_frames,"
      "error_median,error_max,reported_median,refreshed,relearned,dense_fallbacks\n";
  for (const ShardRecord& record : merged.recordings) {
    const Json report = Json::parse(record.report);
    const Json verified = report.value("verified", Json::object());
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", record.input + 1, csv_field(record.path),
        to_string(record.status), csv_field(record.message), field(report, "input", "width"),
        field(report, "input", "height"), field(report, "input", "frames_read"),
        field(report, "frames", "transformed"), field(report, "template", "k"),
        field(report, "frames", "median_us"), field(report, "verified", "frames"),
        field(verified, "relative_error", "median"), field(verified, "relative_error", "max"),
        field(report, "reported", "relative_error_median"), field(report, "frames", "refreshed"),
        field(report, "frames", "relearned"), field(report, "frames", "dense_fallbacks"));
  }
  return text;
}

std::string merged_summary(const MergedRun& merged) {
  constexpr std::size_t kMaxNamed = 20;
  std::int64_t frames = 0;
  std::int64_t transformed = 0;
  std::int64_t dense = 0;
  std::size_t damaged = 0;
  std::string named;
  for (const ShardRecord& record : merged.recordings) {
    const Json report = Json::parse(record.report);
    frames += count(report, "input", "frames_read");
    transformed += count(report, "frames", "transformed");
    dense += count(report, "frames", "dense_fallbacks");
    if (record.status == RunStatus::complete) continue;
    if (++damaged <= kMaxNamed)
      named += fmt::format("{:<11} {}: {}\n", to_string(record.status), printable(record.path),
                           printable(record.message));
  }
  if (damaged > kMaxNamed) named += fmt::format("            and {} more\n", damaged - kMaxNamed);
  std::string text =
      fmt::format("shards      {}\nrecordings  {} of {}, {} complete\n", merged.run.shard.count,
                  merged.recordings.size(), merged.run.inputs, merged.recordings.size() - damaged);
  text +=
      fmt::format("frames      {} read, {} transformed, {} of them densely\n", frames, transformed, dense);
  for (const std::string& sentence : merged.missing)
    text += fmt::format("MISSING     {}\n", printable(sentence));
  return text + named;
}

}  // namespace sfft::video
