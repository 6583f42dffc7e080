// SPDX-License-Identifier: Apache-2.0
// docs/sfft-bench.md describes the keys.
#include "bench/technologies/row.hpp"

#include <cmath>

namespace sfft::technologies {

namespace {

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json head(const Entry& entry, const std::string& device, const std::string& driver, bool gpu) {
  return {
      {"technology", entry.name}, {"port", entry.port}, {"device", device}, {"driver", driver}, {"gpu", gpu}};
}

void add_problem(Json& json, const Problem& problem) {
  json["problem"] = problem.name();
  json["rank"] = problem.rank;
  json["bits"] = problem.bits;
  json["batch"] = problem.batch;
  json["points"] = problem.points();
}

}  // namespace

double Row::us() const {
  return std::isfinite(median.device_us) && median.device_us > 0 ? median.device_us : median.wall_us;
}

Json to_json(const Entry& entry, const Facts& facts, const Row& row) {
  Json json = head(entry, facts.device, facts.driver, facts.gpu);
  json["kind"] = row.kind;
  add_problem(json, row.problem);
  json["threads"] = row.tunable ? Json(row.setting.threads) : Json(nullptr);
  json["tile"] = row.tunable && row.problem.rank == 2 ? Json(row.setting.tile) : Json(nullptr);
  json["launches"] = row.launches > 0 ? Json(row.launches) : Json(nullptr);
  json["traffic_bytes"] = number(row.traffic_bytes);
  json["prepare_ms"] = number(row.prepare_ms);
  json["wall_us"] = number(row.median.wall_us);
  json["wall_p90_us"] = number(row.wall_p90_us);
  json["device_us"] = number(row.median.device_us);
  json["submit_us"] = number(row.median.submit_us);
  json["overhead_us"] = number(row.median.wall_us - row.median.device_us);
  json["runs"] = row.runs;
  json["relative_l2"] = number(row.relative_l2);
  json["bound"] = row.problem.bound();
  json["passed"] = row.skipped.empty() ? Json(row.passed()) : Json(nullptr);
  json["skipped"] = row.skipped;
  return json;
}

Json to_json(const Entry& entry, const Facts& facts) {
  Json json = head(entry, facts.device, facts.driver, facts.gpu);
  const Limits& limits = facts.limits;
  const auto known = [](std::int64_t value) { return value > 0 ? Json(value) : Json(nullptr); };
  json["group_threads"] = known(limits.group_threads);
  json["shared_bytes"] = known(limits.shared_bytes);
  json["buffer_bytes"] = known(limits.buffer_bytes);
  json["memory_bytes"] = known(limits.memory_bytes);
  json["groups_x"] = entry.port && limits.group_threads > 0 ? Json(limits.groups_x) : Json(nullptr);
  json["copy_bytes_per_s"] = number(facts.copy_bytes_per_s);
  json["steps"] = facts.steps;
  json["skipped"] = "";
  return json;
}

Json missing(const Entry& entry, const Problem* problem, const std::string& reason) {
  Json json = head(entry, "", "", false);
  if (problem != nullptr) {
    json["kind"] = "time";
    add_problem(json, *problem);
  }
  json["skipped"] = reason;
  return json;
}

}  // namespace sfft::technologies
