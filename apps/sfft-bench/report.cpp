// SPDX-License-Identifier: Apache-2.0
// Uses one list of a row's fields for both JSON and CSV.
#include "report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/environment.hpp"
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
          {"frames", row.frames},
          {"signals", row.signals},
          {"missed", number(row.missed)},
          {"relative_l2", number(row.relative_l2)},
          {"worst_l2", number(row.worst_l2)},
          {"mean_error", number(row.mean_error)},
          {"noise_floor", number(row.noise_floor)},
          {"samples_read", number(row.samples_read)},
          {"plan_ms", number(row.plan_ms)},
          {"cold_us", number(row.cold_us)},
          {"warm_us", number(row.warm_us)},
          {"total_ms", number(row.total_ms)},
          {"detail", row.detail},
          {"skipped", row.skipped},
          {"threads", row.threads},
          {"planner", row.planner},
          {"note", row.note},
          {"learn_ms", number(row.learn_ms)},
          {"distinct_us", number(row.distinct_us)},
          {"recording", row.recording},
          {"frames_in", row.frames_in},
          {"batch", row.batch},
          {"prepare_ms", number(row.prepare_ms)},
          {"first_use_ms", number(row.first_use_ms)},
          {"frame_us", number(row.frame_us)},
          {"peer", row.peer},
          {"peer_prepare_ms", number(row.peer_prepare_ms)},
          {"peer_first_use_ms", number(row.peer_first_use_ms)},
          {"peer_frame_us", number(row.peer_frame_us)},
          {"break_even_frames", number(row.break_even_frames)},
          {"break_even_first_use_frames", number(row.break_even_first_use_frames)},
          {"break_even_kept_frames", number(row.break_even_kept_frames)},
          {"ahead_until_frames", number(row.ahead_until_frames)},
          {"crossed_frames", number(row.crossed_frames)}};
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

}  // namespace sfft::apps
