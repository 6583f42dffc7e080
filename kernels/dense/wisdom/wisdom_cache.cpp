// SPDX-License-Identifier: Apache-2.0
// Each value is the text of a wisdom file with one entry, checked as such. Measurements and quick comparisons
// have different keys.
#include <fmt/format.h>

#include "kernels/dense/wisdom/wisdom_text.hpp"

namespace sfft::detail {

namespace {

constexpr const char* kKind = "wisdom";

std::string key_of(const std::string& build, const WisdomPlatform& platform, const WisdomProblem& problem,
                   bool compared) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", compared ? "compared" : "measured", build, platform.device,
                     platform.driver, platform.library, problem.transform, problem.batch);
}

}  // namespace

void recall_wisdom(const UserCache& cache, const std::string& build, const WisdomPlatform& platform,
                   const WisdomProblem& problem, Wisdom& wisdom) {
  if (!cache.enabled() || wisdom.measured(platform, problem)) return;
  for (const bool compared : {false, true}) {
    if (compared && wisdom.find(platform, problem, Wisdom::Batch::exact)) return;
    const auto text = cache.find(kKind, key_of(build, platform, problem, compared));
    if (!text) continue;
    const WisdomRecords read = read_wisdom(*text, [&](const WisdomRecord& record) {
      return std::string(
          record.platform == platform && record.problem == problem ? "" : "it is for another problem");
    });
    if (read.records.size() != 1) continue;
    WisdomEntry entry = read.records.front().entry;
    entry.compared = compared;
    wisdom.add(platform, problem, entry);
    return;
  }
}

void remember_wisdom(const UserCache& cache, const std::string& build, const WisdomPlatform& platform,
                     const WisdomProblem& problem, const WisdomEntry& entry, Wisdom& wisdom) {
  wisdom.add(platform, problem, entry);
  if (cache.enabled())
    cache.store(kKind, key_of(build, platform, problem, entry.compared),
                write_wisdom({{platform, problem, entry}}));
}

}  // namespace sfft::detail
