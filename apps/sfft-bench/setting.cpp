// SPDX-License-Identifier: Apache-2.0
// Names settings, and selects contenders by name.
#include "setting.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "kernels/runtime/host_resources.hpp"
#include "sfft/error.hpp"

namespace sfft::apps {

namespace {

const char* word(FftwPlanner planner) {
  switch (planner) {
    case FftwPlanner::estimate:
      return "estimate";
    case FftwPlanner::measure:
      return "measure";
    default:
      return "patient";
  }
}

}  // namespace

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string FftwSetting::name() const {
  return with_threads(planner == FftwPlanner::measure ? "FFTW" : std::string("FFTW ") + word(planner),
                      threads);
}

std::string FftwSetting::planner_name() const {
  std::string name = word(planner);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return "FFTW_" + name;
}

std::vector<FftwSetting> Lineup::fftw() const {
  std::vector<FftwSetting> all;
  for (const int count : threads) {
    for (const FftwPlanner planner : planners) all.push_back({planner, count});
  }
  return all;
}

FftwPlanner fftw_planner(const std::string& name) {
  for (const FftwPlanner planner : {FftwPlanner::estimate, FftwPlanner::measure, FftwPlanner::patient}) {
    if (lower_case(name) == word(planner)) return planner;
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("--fftw-planner {}: write estimate, measure or patient", name));
}

PlanEffort plan_effort(const std::string& name) {
  for (const PlanEffort effort : {PlanEffort::quick, PlanEffort::normal, PlanEffort::thorough}) {
    if (lower_case(name) == word(effort)) return effort;
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("--effort {}: write quick, normal or thorough", name));
}

const char* word(PlanEffort effort) {
  return effort == PlanEffort::quick ? "quick" : effort == PlanEffort::normal ? "normal" : "thorough";
}

std::string with_effort(const std::string& name, PlanEffort effort) {
  return effort == PlanEffort::normal ? name : name + " " + word(effort);
}

std::string with_threads(const std::string& name, int threads) {
  return threads == 1 ? name : fmt::format("{}, {} threads", name, threads);
}

std::string thread_note(int threads) {
  const int cores = sfft::detail::usable_processors();
  if (threads <= cores) return {};
  return fmt::format("{} threads on {} core{}", threads, cores, cores == 1 ? "" : "s");
}

std::vector<std::size_t> selected(const std::vector<std::string>& names, const std::vector<std::string>& only,
                                  bool others) {
  std::vector<bool> taken(names.size(), only.empty());
  for (const std::string& wanted : only) {
    const bool exact = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return lower_case(name) == lower_case(wanted);
    });
    bool found = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string name = lower_case(names[i]);
      if (exact ? name != lower_case(wanted) : name.find(lower_case(wanted)) == std::string::npos) continue;
      taken[i] = found = true;
    }
    if (!found && !others) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--only {}: no such contender; there are {}", wanted, fmt::join(names, "; ")));
    }
  }
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (taken[i]) indices.push_back(i);
  }
  return indices;
}

}  // namespace sfft::apps
