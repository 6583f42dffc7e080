// SPDX-License-Identifier: Apache-2.0
// The subcommands sparse and noise compare contenders on signals whose spectrum is known.
#include "commands.hpp"
#include "run_control.hpp"
#include "sparse_group.hpp"

namespace sfft::apps {

namespace {

void measure_all(const std::vector<SparseGroup>& groups, const std::vector<std::string>& only,
                 const CommonOptions& common, Results& results) {
  auto contenders = make_contenders(only, common.lineup, common.cpu(), common.gpu);
  int steps = 0;
  for (const SparseGroup& group : groups) {
    check(group, contenders.size());
    steps += group.signals;
  }
  ProgressBar progress(steps, common.quiet);
  for (const SparseGroup& group : groups) {
    const std::vector<Row> measured = measure(group, contenders, progress);
    progress.clear();
    results.add(measured);
    check_interrupt();
  }
}

int signals_of(const CommonOptions& common, int quick, int full) {
  return common.signals > 0 ? common.signals : common.quick ? quick : full;
}

template <class T>
std::vector<T> or_default(const std::vector<T>& given, bool use_quick, std::vector<T> quick,
                          std::vector<T> full) {
  return !given.empty() ? given : use_quick ? std::move(quick) : std::move(full);
}

}  // namespace

void run_sparse(const SparseOptions& options, const CommonOptions& common, Results& results) {
  const int signals = signals_of(common, 3, 11);
  std::vector<SparseGroup> groups;
  std::vector<std::int64_t> sizes = options.sizes;
  const int last = common.quick ? 20 : 24;
  for (int bits = 12; options.sizes.empty() && bits <= last; bits += 2) {
    sizes.push_back(std::int64_t{1} << bits);
  }
  const bool all = options.sweep == "all";
  if (all || options.sweep == "n") {
    for (const std::int64_t points : sizes) {
      for (const std::int64_t k : or_default<std::int64_t>(options.k, false, {}, {50, 64})) {
        groups.push_back({"time_vs_n", points, k, kUnknown, signals});
      }
    }
  }
  if ((all && !options.snr_db.empty()) || options.sweep == "noise") {
    for (const double snr_db : or_default<double>(options.snr_db, false, {}, {20})) {
      for (const std::int64_t k : or_default<std::int64_t>(options.k, false, {}, {64})) {
        for (const std::int64_t points : sizes) {
          groups.push_back({"time_vs_n_noise", points, k, snr_db, signals});
        }
      }
    }
  }
  if (all || options.sweep == "k") {
    const std::int64_t points =
        options.points > 0 ? options.points : std::int64_t{1} << (common.quick ? 20 : 22);
    for (const std::int64_t k : or_default<std::int64_t>(options.k_sweep, common.quick, {50, 500, 2000},
                                                         {50, 100, 200, 500, 1000, 2000, 4000})) {
      groups.push_back({"time_vs_k", points, k, kUnknown, signals});
    }
  }
  measure_all(groups, options.only, common, results);
}

void run_noise(const NoiseOptions& options, const CommonOptions& common, Results& results) {
  const int signals = signals_of(common, 3, 21);
  std::vector<SparseGroup> groups;
  for (const std::int64_t points :
       or_default<std::int64_t>(options.sizes, common.quick, {1 << 16}, {1 << 18, 1 << 22})) {
    for (const double snr_db : or_default<double>(options.snr_db, common.quick, {0, 20, 40, 60},
                                                  {-10, 0, 10, 20, 30, 40, 50, 60, 80, 100})) {
      groups.push_back({"error_vs_snr", points, options.k, snr_db, signals});
    }
  }
  measure_all(groups, options.only, common, results);
}

}  // namespace sfft::apps
