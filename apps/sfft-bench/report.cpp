// SPDX-License-Identifier: Apache-2.0
// One list of a row's fields serves JSON and CSV; tables pick columns and units for reading.
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
          {"skipped", row.skipped}};
}

std::string csv_field(const Json& value) {
  if (value.is_null()) return {};
  if (!value.is_string()) return value.dump();
  std::string quoted(1, '"');
  for (const char c : value.get<std::string>()) quoted.append(c == '"' ? 2 : 1, c);
  quoted.push_back('"');
  return quoted;
}

std::string duration(double us) {
  if (!std::isfinite(us)) return "-";
  if (us >= 1e6) return fmt::format("{:.3g} s", us / 1e6);
  if (us >= 1e3) return fmt::format("{:.3g} ms", us / 1e3);
  return fmt::format("{:.3g} us", us);
}

std::string share(double value) {
  return std::isfinite(value) ? fmt::format("{:.3g} %", 100 * value) : "-";
}

std::string scientific(double value) {
  return std::isfinite(value) ? fmt::format("{:.1e}", value) : "-";
}

std::string heading(const Row& row) {
  if (row.figure == "video") return fmt::format("after frame {} of {}", row.frames, row.shape);
  std::string text = row.figure == "dense" ? row.shape : fmt::format("N = {}", row.nominal_points);
  if (row.k > 0) text += fmt::format(", k = {}", row.k);
  if (std::isfinite(row.snr_db)) {
    text += fmt::format(", SNR {} dB, error of a full FFT {:.1e}", row.snr_db, row.noise_floor);
  }
  return text;
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

void Table::print(const std::vector<Row>& group) const {
  if (quiet_ || group.empty()) return;
  const bool video = group.front().figure == "video";
  fmt::print("\n{}\n", heading(group.front()));
  fmt::print("  {:<20} {:>8} {:>9} {:>9} {:>10} {:>9} {:>9} {:>9}{}  {}\n", "", "missed", "rel. L2", "error",
             "samples", "plan", "cold", "warm", video ? fmt::format(" {:>9}", "total") : "", "");
  for (const Row& row : group) {
    if (!row.skipped.empty()) {
      fmt::print("  {:<20} left out: {}\n", row.contender, row.skipped);
      continue;
    }
    const std::string total = video ? fmt::format(" {:>9}", duration(1e3 * row.total_ms)) : "";
    fmt::print(
        "  {:<20} {:>8} {:>9} {:>9} {:>10.0f} {:>9} {:>9} {:>9}{}  {}\n", row.contender, share(row.missed),
        scientific(row.relative_l2), scientific(row.mean_error), row.samples_read,
        duration(1e3 * row.plan_ms), duration(row.cold_us), duration(row.warm_us), total,
        row.points == row.nominal_points ? row.detail : fmt::format("N = {}, {}", row.points, row.detail));
  }
  std::fflush(stdout);
}

}  // namespace sfft::apps
