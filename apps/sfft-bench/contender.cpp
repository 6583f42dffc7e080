// SPDX-License-Identifier: Apache-2.0
// Lists the contenders in table order and filters them by name. The default clocks evict the caches before a
// cold run and repeat warm ones within a budget.
#include "contender.hpp"

#include "timing.hpp"

namespace sfft::apps {

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

std::vector<std::unique_ptr<Contender>> make_contenders(const std::vector<std::string>& only,
                                                        const Lineup& lineup, bool cpu, bool gpu) {
  std::vector<std::unique_ptr<Contender>> all;
  if (cpu) {
    add_dense_contenders(lineup, all);
    add_published_contenders(all);
    add_sfft_contenders(lineup, all);
  }
#if SFFT_BENCH_CUDA
  if (gpu) add_cuda_contenders(all);
#else
  static_cast<void>(gpu);
#endif
  std::vector<std::string> names;
  for (const auto& contender : all) names.push_back(contender->name());
  std::vector<std::unique_ptr<Contender>> chosen;
  for (const std::size_t i : selected(names, only)) chosen.push_back(std::move(all[i]));
  return chosen;
}

}  // namespace sfft::apps
