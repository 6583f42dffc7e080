// SPDX-License-Identifier: Apache-2.0
// Uses one list of a row's fields for both JSON and CSV.
#include "report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/environment.hpp"
#include "kernels/runtime/output_file.hpp"
#include "sfft/sfft.hpp"
#include "sfft_commit.hpp"

namespace sfft::apps {

namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

/// The fields of a row, in order, for both formats.
Json fields(const Row& row) {
  return {{"figure", row.figure},
          {"contender", row.contender},
          {"device", row.device},
          {"shape", row.shape},
          {"points", row.points},
          {"nominal_points", row.nominal_points},
          {"k", row.k},
          {"snr_db", number(row.snr_db)},
          {"frames", row.recording.frames},
          {"signals", row.signals},
          {"missed", number(row.errors.missed)},
          {"relative_l2", number(row.errors.relative_l2)},
          {"worst_l2", number(row.errors.worst_l2)},
          {"mean_error", number(row.errors.mean)},
          {"noise_floor", number(row.errors.noise_floor)},
          {"samples_read", number(row.samples_read)},
          {"plan_ms", number(row.times.plan_ms)},
          {"cold_us", number(row.times.cold_us)},
          {"warm_us", number(row.times.warm_us)},
          {"total_ms", number(row.times.total_ms)},
          {"detail", row.detail},
          {"skipped", row.skipped},
          {"threads", row.threads},
          {"planner", row.planner},
          {"note", row.note},
          {"learn_ms", number(row.times.learn_ms)},
          {"distinct_us", number(row.times.distinct_us)},
          {"recording", row.recording.name},
          {"frames_in", row.recording.frames_in},
          {"batch", row.recording.batch},
          {"prepare_ms", number(row.recording.costs.prepare_ms)},
          {"first_use_ms", number(row.recording.costs.first_use_ms)},
          {"frame_us", number(row.recording.costs.frame_us)},
          {"peer", row.break_even.peer},
          {"peer_prepare_ms", number(row.break_even.costs.prepare_ms)},
          {"peer_first_use_ms", number(row.break_even.costs.first_use_ms)},
          {"peer_frame_us", number(row.break_even.costs.frame_us)},
          {"break_even_frames", number(row.break_even.frames)},
          {"break_even_first_use_frames", number(row.break_even.first_use_frames)},
          {"break_even_kept_frames", number(row.break_even.kept_frames)},
          {"ahead_until_frames", number(row.break_even.ahead_until)},
          {"crossed_frames", number(row.break_even.crossed)}};
}

std::string csv_field(const Json& value) {
  if (value.is_null()) return {};
  if (!value.is_string()) return value.dump();
  std::string quoted(1, '"');
  for (const char c : value.get<std::string>()) quoted.append(c == '"' ? 2 : 1, c);
  quoted.push_back('"');
  return quoted;
}

}  // namespace

std::string json_text(const RunContext& context, const std::vector<Row>& rows) {
  Json all = {{"schema", "sfft-bench/1"},        {"subcommand", context.subcommand},
              {"command", context.command},      {"quick", context.quick},
              {"status", context.status},        {"gpu", context.gpu},
              {"commit", SFFT_COMMIT},           {"sfft", build_info()},
              {"processor", bench::processor()}, {"rows", Json::array()}};
  for (const Row& row : rows) all["rows"].push_back(fields(row));
  return all.dump(1) + "\n";
}

std::string csv_text(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    const Json entry = fields(row);
    std::string header, line;
    for (const auto& [key, value] : entry.items()) {
      if (!header.empty()) {
        header.push_back(',');
        line.push_back(',');
      }
      header.append(key);
      line.append(csv_field(value));
    }
    if (text.empty()) text = header + "\n";
    text += line + "\n";
  }
  return text;
}

Results::Results(RunContext context, std::string json, std::string csv, bool quiet)
    : context_(std::move(context)), json_(std::move(json)), csv_(std::move(csv)), table_(quiet) {
  for (const std::string* path : {&json_, &csv_}) {
    if (!path->empty()) const detail::OutputFile refused_before_the_work(*path);
  }
}

void Results::add(const std::vector<Row>& group, bool shown) {
  if (group.empty()) return;
  if (shown) table_.print(group);
  rows_.insert(rows_.end(), group.begin(), group.end());
  write();
}

void Results::finish(const std::string& status) {
  context_.status = status;
  if (!rows_.empty() || status == "complete") write();
}

void Results::write() const {
  if (!json_.empty()) detail::write_whole(json_, json_text(context_, rows_));
  if (!csv_.empty()) detail::write_whole(csv_, csv_text(rows_));
}

}  // namespace sfft::apps
