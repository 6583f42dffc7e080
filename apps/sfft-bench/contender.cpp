// SPDX-License-Identifier: Apache-2.0
// Gathers the contenders in the order of the tables and filters them by name. The default clocks evict the
// caches before a cold run and repeat warm ones within a budget.
#include "contender.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "sfft/error.hpp"
#include "timing.hpp"

namespace sfft::apps {

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

void Contender::plan_timed(const SparseCase& problem) {
  plan_seconds_ = seconds_of([&] { plan(problem); });
}

double Contender::cold_seconds(const SparseCase& problem) {
  evict_caches();
  return seconds_of([&] { execute(problem); });
}

double Contender::warm_seconds(const SparseCase& problem, double budget) {
  return apps::warm_seconds([&] { execute(problem); }, budget);
}

namespace {

void add_cpu_contenders(std::vector<std::unique_ptr<Contender>>& all, const std::vector<std::string>& only) {
  add_dense_contenders(all);
  add_published_contenders(all);
#if SFFT_BENCH_ORIGINAL
  // Only by name: it writes past its buffers, which a long run of other contenders should not pay for.
  if (std::any_of(only.begin(), only.end(),
                  [](const std::string& wanted) { return lower(wanted).starts_with("original"); })) {
    add_original_contenders(all);
  }
#endif
  static_cast<void>(only);
  add_sfft_contenders(all);
}

}  // namespace

std::vector<std::unique_ptr<Contender>> make_contenders(const std::vector<std::string>& only, bool cpu,
                                                        bool gpu) {
  std::vector<std::unique_ptr<Contender>> all;
  if (cpu) add_cpu_contenders(all, only);
#if SFFT_BENCH_CUDA
  if (gpu) add_cuda_contenders(all);
#else
  static_cast<void>(gpu);
#endif
  if (only.empty()) return all;
  std::vector<std::string> names;
  for (const auto& contender : all) names.push_back(contender->name());
  for (const std::string& wanted : only) {
    if (std::none_of(names.begin(), names.end(), [&](const std::string& name) {
          return lower(name).find(lower(wanted)) != std::string::npos;
        })) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--only {}: no such contender; there are {}", wanted, fmt::join(names, ", ")));
    }
  }
  std::erase_if(all, [&](const std::unique_ptr<Contender>& contender) {
    return std::none_of(only.begin(), only.end(), [&](const std::string& wanted) {
      return lower(contender->name()).find(lower(wanted)) != std::string::npos;
    });
  });
  return all;
}

}  // namespace sfft::apps
