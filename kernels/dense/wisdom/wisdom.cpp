// SPDX-License-Identifier: Apache-2.0
// Keeps measured entries by platform and shipped ones by device name. A search takes the known batch with the
// closest ratio.
#include "kernels/dense/wisdom/wisdom.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/dense/wisdom/wisdom_text.hpp"
#include "kernels/runtime/embedded.hpp"
#include "sfft/error.hpp"
#include "sfft_build_config.hpp"

namespace sfft::detail {

extern const EmbeddedFile kShippedWisdom[];
extern const int kShippedWisdomCount;

namespace {

/// The entry whose batch is closest by ratio to the requested one, and the logarithm of that ratio.
template <class Known>
std::pair<const WisdomEntry*, double> nearest(const Known& known, const WisdomProblem& problem) {
  std::pair<const WisdomEntry*, double> best{nullptr, 0.0};
  for (auto it = known.lower_bound({problem.transform, 1});
       it != known.end() && it->first.transform == problem.transform; ++it) {
    const double ratio = static_cast<double>(it->first.batch) / static_cast<double>(problem.batch);
    const double distance = std::abs(std::log(ratio));
    if (best.first == nullptr || distance < best.second) best = {&it->second, distance};
  }
  return best;
}

/// The release of a version: "0.1" for "0.1.7".
std::string_view release(std::string_view version) {
  const std::size_t dot = version.find('.');
  return version.substr(0, dot == std::string_view::npos ? dot : version.find('.', dot + 1));
}

std::string other(const char* what, const std::string& theirs, const std::string& ours) {
  return fmt::format("it was measured with {} '{}', here is '{}': measure again", what, theirs, ours);
}

}  // namespace

Wisdom& Wisdom::global() {
  // Never destroyed: threads may plan while the process ends.
  static Wisdom& instance = *[] {
    auto wisdom = std::make_unique<Wisdom>();
    for (int i = 0; i < kShippedWisdomCount; ++i) wisdom->parse_shipped(kShippedWisdom[i].text);
    return wisdom.release();
  }();
  return instance;
}

std::optional<WisdomEntry> Wisdom::find(const WisdomPlatform& platform, const WisdomProblem& problem,
                                        Batch batch) const {
  const std::lock_guard lock(mutex_);
  std::pair<const WisdomEntry*, double> best{nullptr, 0.0};
  if (const auto own = entries_.find(platform); own != entries_.end()) best = nearest(own->second, problem);
  if (const auto shipped = shipped_.find(platform.device); shipped != shipped_.end()) {
    const auto candidate = nearest(shipped->second, problem);
    if (candidate.first != nullptr && (best.first == nullptr || candidate.second < best.second))
      best = candidate;
  }
  if (best.first != nullptr && best.second == 0) return *best.first;
  if (const auto known = compared_.find(platform); known != compared_.end()) {
    if (const auto found = known->second.find(problem); found != known->second.end()) return found->second;
  }
  return best.first != nullptr && batch == Batch::nearest ? std::optional(*best.first) : std::nullopt;
}

bool Wisdom::measured(const WisdomPlatform& platform, const WisdomProblem& problem) const {
  const std::lock_guard lock(mutex_);
  const auto own = entries_.find(platform);
  return own != entries_.end() && own->second.count(problem) > 0;
}

void Wisdom::add(const WisdomPlatform& platform, const WisdomProblem& problem, WisdomEntry entry) {
  const std::lock_guard lock(mutex_);
  (entry.compared ? compared_ : entries_)[platform].insert_or_assign(problem, std::move(entry));
}

void Wisdom::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  compared_.clear();
  shipped_.clear();
}

dense::WisdomReport Wisdom::parse(const std::string& json, const PlatformHere& here) {
  std::map<std::string, std::optional<WisdomPlatform>> platforms;  // each device is queried once
  WisdomRecords read = read_wisdom(json, [&](const WisdomRecord& record) -> std::string {
    const auto [found, is_new] = platforms.try_emplace(record.platform.device);
    if (is_new) found->second = here(record.platform.device);
    const std::optional<WisdomPlatform>& platform = found->second;
    if (!platform || *platform == record.platform) return "";
    if (platform->library != record.platform.library)
      return other("the library's version", record.platform.library, platform->library);
    return other("the driver", record.platform.driver, platform->driver);
  });
  const std::lock_guard lock(mutex_);
  auto merged = entries_;  // a failed allocation must leave the known entries intact
  for (WisdomRecord& record : read.records)
    merged[record.platform].insert_or_assign(record.problem, std::move(record.entry));
  entries_.swap(merged);
  read.report.taken = static_cast<int>(read.records.size());
  return read.report;
}

dense::WisdomReport Wisdom::parse_shipped(const std::string& json) {
  WisdomRecords read = read_wisdom(json, [](const WisdomRecord& record) -> std::string {
    if (release(record.platform.library) == release(SFFT_VERSION)) return "";
    return other("the library's version", record.platform.library, SFFT_VERSION);
  });
  const std::lock_guard lock(mutex_);
  for (WisdomRecord& record : read.records)
    shipped_[record.platform.device].insert_or_assign(record.problem, std::move(record.entry));
  read.report.taken = static_cast<int>(read.records.size());
  return read.report;
}

std::string Wisdom::merged_into(const std::string& file) const {
  std::map<WisdomPlatform, Known> merged;
  if (!file.empty()) {
    WisdomRecords read = read_wisdom(file, [](const WisdomRecord&) { return std::string(); });
    if (read.records.empty() && !read.report.reason.empty())
      throw Error(ErrorCode::file_corrupt, read.report.reason);
    for (WisdomRecord& record : read.records)
      merged[record.platform].insert_or_assign(record.problem, std::move(record.entry));
  }
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [platform, known] : entries_) {
      for (const auto& [problem, entry] : known) merged[platform].insert_or_assign(problem, entry);
    }
  }
  std::vector<WisdomRecord> records;
  for (const auto& [platform, known] : merged) {
    for (const auto& [problem, entry] : known) records.push_back({platform, problem, entry});
  }
  std::string text = write_wisdom(records);
  if (text.size() > kWisdomBytes)
    throw Error(ErrorCode::file_corrupt,
                fmt::format("with what was measured here it would have {} bytes, more "
                            "than the {} that a wisdom file may have",
                            text.size(), kWisdomBytes));
  return text;
}

/// Joins precision, kind and shape, and adds strides only if signals are not contiguous.
template <class Real>
WisdomProblem wisdom_problem(const DenseProblem& problem) {
  std::string text = fmt::format("{} {} {}", sizeof(Real) == 4 ? "f32" : "f64", problem.real ? "r2c" : "c2c",
                                 problem.shape.to_string());
  if (!problem.contiguous()) text += " strided " + to_string(problem);
  return {std::move(text), problem.batch};
}

template WisdomProblem wisdom_problem<float>(const DenseProblem&);
template WisdomProblem wisdom_problem<double>(const DenseProblem&);

}  // namespace sfft::detail
