// SPDX-License-Identifier: Apache-2.0
// Measures whether discovery of tones between the frequencies of the grid is right or reports leakage, and
// what a failed search costs.
#include <fmt/format.h>

#include <atomic>
#include <map>

#include "bench/threads.hpp"
#include "bench/timing.hpp"
#include "bench/trust/commands.hpp"
#include "bench/trust/off_grid_signals.hpp"

namespace sfft::trust {

namespace {

struct Tally {
  std::int64_t signals = 0, right = 0, told = 0, flagged = 0, unverified = 0, silent = 0, listed = 0,
               near = 0;
  std::int64_t searched = 0, failed = 0, beyond_points = 0;
  std::vector<double> failed_cost, found_cost;  ///< seconds of the search over those of a dense transform

  void operator+=(const Tally& other) {
    signals += other.signals;
    right += other.right;
    told += other.told;
    flagged += other.flagged;
    unverified += other.unverified;
    silent += other.silent;
    listed += other.listed;
    near += other.near;
    searched += other.searched;
    failed += other.failed;
    beyond_points += other.beyond_points;
    failed_cost.insert(failed_cost.end(), other.failed_cost.begin(), other.failed_cost.end());
    found_cost.insert(found_cost.end(), other.found_cost.begin(), other.found_cost.end());
  }
};
using Tallies = std::map<std::string, Tally>;

using bench::lower_quantile;

/// Takes the fastest of a few calls, because other programs disturb some.
constexpr int kCalls = 4;

/// Seconds of discover() with Path::dense.
double dense_seconds(const OffGridSignal& signal) {
  DiscoverOptions options = signal.options;
  options.path = Path::dense;
  options.dense_fallback = true;
  options.k = options.k.value_or(1);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kCalls; ++i)
    best = std::min(best, bench::seconds_of([&] { static_cast<void>(discover_drawn(signal, options)); }));
  return best;
}

/// Seconds of the search in discover().
double search_seconds(const OffGridSignal& signal, double first) {
  for (int i = 1; i < kCalls; ++i)
    first = std::min(first, discover_drawn(signal, signal.options).search_seconds);
  return first;
}

void run_one(const OffGridPopulation& population, std::int64_t number, bool off_grid,
             const OffGridOptions& options, Tallies& tallies) {
  const OffGridSignal signal = population.draw(number, off_grid);
  Discovery found;
  OffGridVerdict verdict;
  Tally& tally = tallies[(off_grid ? "off: " : "on: ") + signal.kind];
  ++tally.signals;
  try {
    found = discover_drawn(signal, signal.options);
  } catch (const Error& error) {
    ++tally.unverified;
    if (options.verbose) fmt::print("{} {}: {}\n", number, signal.kind, error.what());
    return;
  }
  verdict = judge(signal, found, std::numeric_limits<float>::epsilon());
  const bool silent = off_grid && found.verified && !verdict.told() && !verdict.right();
  tally.right += verdict.right();
  tally.told += off_grid && verdict.told() && !verdict.right();
  tally.flagged += verdict.flagged;
  tally.unverified += !found.verified && !verdict.told();
  tally.silent += silent;
  tally.listed += verdict.listed;
  tally.near += verdict.near;
  tally.beyond_points += !found.support_learned_densely && found.samples >= signal.shape.points();
  double cost = 0;
  if (found.rounds > 0 || (found.support_learned_densely && found.search_seconds > 1e-5)) {
    cost = search_seconds(signal, found.search_seconds) / dense_seconds(signal);
    ++tally.searched;
    const bool failed = found.support_learned_densely || !found.verified;
    tally.failed += failed;
    (failed ? tally.failed_cost : tally.found_cost).push_back(cost);
  }
  if (options.verbose) {
    fmt::print(
        "{} {} {} {} tones={} noise={:.0f} k={} fallback={} | verified={} {} values={} flagged={} near={}/{} "
        "right={} ({} {}) rounds={} samples={} search/dense={:.2f}{} | {}\n",
        number, signal.kind, signal.shape.to_string(), signal.real ? "real" : "complex", signal.tones.size(),
        signal.noise_db, signal.options.k.value_or(0), signal.options.dense_fallback ? "dense" : "none",
        found.verified, to_string(found.spectrum.path), found.spectrum.values.size(), verdict.flagged,
        verdict.near, verdict.listed, verdict.right(), verdict.true_values, verdict.all_tones, found.rounds,
        found.samples, cost, silent ? " SILENT" : "", found.reason);
  }
}

}  // namespace

nlohmann::json run_off_grid(const OffGridOptions& options) {
  const OffGridPopulation population(options.seed, options.large);
  std::atomic<std::int64_t> next{0};
  std::vector<Tallies> of_thread(static_cast<std::size_t>(options.threads));
  bench::on_threads(options.threads, [&](int t) {
    for (std::int64_t i = next++; i < 2 * options.count; i = next++)
      run_one(population, options.first + i / 2, i % 2 == 0, options, of_thread[static_cast<std::size_t>(t)]);
  });
  Tallies tallies;
  for (const Tallies& own : of_thread) {
    for (const auto& [name, tally] : own) {
      tallies[name] += tally;
      tallies[name.substr(0, name.find(':')) + ": all"] += tally;
    }
  }
  fmt::print("{:<22} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>8} | {:>8} {:>8} {:>8} {:>8} {:>6}\n", "",
             "signals", "right", "told", "unsure", "silent", "flagged", "in 3 se", "failed", "median", "99 %",
             "largest", "N read");
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& [name, tally] : tallies) {
    const double near =
        tally.listed > 0 ? static_cast<double>(tally.near) / static_cast<double>(tally.listed) : 0;
    fmt::print(
        "{:<22} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7.1f}% | {:>8} {:>8.3f} {:>8.3f} {:>8.3f} {:>6}\n",
        name, tally.signals, tally.right, tally.told, tally.unverified, tally.silent, tally.flagged,
        100 * near, tally.failed, lower_quantile(tally.failed_cost, 0.5),
        lower_quantile(tally.failed_cost, 0.99), lower_quantile(tally.failed_cost, 1), tally.beyond_points);
    rows.push_back({{"family", name},
                    {"signals", tally.signals},
                    {"right", tally.right},
                    {"told", tally.told},
                    {"unsure", tally.unverified},
                    {"silent", tally.silent},
                    {"flagged", tally.flagged},
                    {"within_three_errors", near},
                    {"failed_searches", tally.failed},
                    {"failed_cost_median", lower_quantile(tally.failed_cost, 0.5)},
                    {"failed_cost_99", lower_quantile(tally.failed_cost, 0.99)},
                    {"failed_cost_largest", lower_quantile(tally.failed_cost, 1)},
                    {"found_cost_median", lower_quantile(tally.found_cost, 0.5)},
                    {"found_cost_largest", lower_quantile(tally.found_cost, 1)}});
  }
  return {{"families", rows}, {"seed", options.seed}, {"count", options.count}};
}

}  // namespace sfft::trust
