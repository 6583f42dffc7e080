// SPDX-License-Identifier: Apache-2.0
// Known support: measures whether a disturbance of some samples is noticed, from PlanInfo::shortest_burst on
// and below, by default and with PlanOptions::burst.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>

#include "bench/threads.hpp"
#include "bench/timing.hpp"
#include "bench/trust/burst_case.hpp"
#include "bench/trust/commands.hpp"
#include "bench/trust/error_ratios.hpp"

namespace sfft::trust {

namespace {

constexpr double kBurst = 0.01;       ///< PlanOptions::burst of every second plan
constexpr std::int64_t kFrames = 90;  ///< frames per plan

struct Tally {
  std::int64_t frames = 0, silent = 0;
  double worst = 0;  ///< largest true over reported error above rounding
  void add(const BurstResult& result) {
    ++frames;
    silent += result.silent();
    const double beyond = result.true_l2 - BurstResult::kRounding * result.norm;
    if (beyond > 0) worst = std::max(worst, result.reported_l2 > 0 ? beyond / result.reported_l2 : 1e99);
  }
  void add(const Tally& other) {
    frames += other.frames;
    silent += other.silent;
    worst = std::max(worst, other.worst);
  }
};

using Tallies = std::map<std::string, Tally>;

BurstSettings draw_settings(bool quick, Random& random) {
  struct Grid {
    Shape shape;
    bool real;
  };
  const std::array grids{
      Grid{Shape{1 << 12}, false},    Grid{Shape{10007}, false},   Grid{Shape{1 << 13}, true},
      Grid{Shape{96, 64}, true},      Grid{Shape{1 << 16}, false}, Grid{Shape{1 << 15}, true},
      Grid{Shape{65521}, false},      Grid{Shape{256, 192}, true}, Grid{Shape{1536 * 30}, false},
      Grid{Shape{32, 32, 48}, false}, Grid{Shape{240, 320}, true}};
  const std::array<std::int64_t, 6> sizes{8, 20, 64, 150, 300, 1000};
  const std::array<std::optional<double>, 4> noises{std::nullopt, 60.0, 40.0, 20.0};
  const std::array origins{Origin::learned, Origin::learned_noisy, Origin::support};
  const Grid grid = grids[static_cast<std::size_t>(random.below(quick ? 4 : grids.size()))];
  BurstSettings settings;
  settings.shape = grid.shape;
  settings.real = grid.real;
  do {
    settings.k = sizes[static_cast<std::size_t>(random.below(sizes.size()))];
  } while (settings.k * 32 > grid.shape.points());
  settings.snr_db = noises[static_cast<std::size_t>(random.below(noises.size()))];
  settings.origin = origins[static_cast<std::size_t>(random.below(settings.snr_db ? 3 : 2))];
  if (!settings.snr_db && settings.origin == Origin::learned_noisy) settings.origin = Origin::support;
  settings.runs = random.chance(0.5);
  settings.reference = random.chance(0.25);
  settings.burst = random.chance(0.5) ? kBurst : 0;
  settings.seed = random.bits();
  return settings;
}

/// Requested lengths of the disturbance, in units of the shortest burst that the plan promises to notice.
constexpr std::array kLengths{0.25, 0.5, 1.0, 1.5, 3.0};

template <class Real>
void measure_case(const BurstSettings& settings, Random& random, bool verbose, Tallies& tallies) {
  BurstCase<Real> measured(settings);
  const PlanInfo& plan = measured.plan();
  if (plan.path != Path::comb && plan.path != Path::flat_window) {
    tallies[fmt::format("9 {} plans", to_string(plan.path))].add(Tally{1, 0, 0});
    return;
  }
  const std::int64_t points = settings.shape.points();
  const std::string option = settings.burst > 0 ? "burst = 0.01" : "default";
  const std::int64_t promised = plan.shortest_burst;
  tallies["8 undisturbed"].add(measured.undisturbed());
  for (std::int64_t i = 0; i < kFrames; ++i) {
    const double length = kLengths[static_cast<std::size_t>(i) % kLengths.size()];
    const BurstPlace place = kBurstPlaces[static_cast<std::size_t>(random.below(kBurstPlaces.size()))];
    const BurstContent content =
        kBurstContents[static_cast<std::size_t>(random.below(kBurstContents.size()))];
    const auto samples = static_cast<std::int64_t>(std::ceil(length * static_cast<double>(promised)));
    if (2 * samples > points || samples < 1) continue;
    const BurstResult result = measured.measure(samples, place, content, random);
    const std::string at_length = fmt::format("{}, x {:.2f}", option, length);
    tallies[fmt::format("1 {}, {}", at_length, to_string(place))].add(result);
    if (result.samples < promised || place == BurstPlace::train || place == BurstPlace::block) continue;
    if (result.silent() && verbose)
      fmt::print(
          "{} {} k {} {} snr {} ref {} runs {} {} {} B {} r {} w {} promised {} disturbed {} {} {}: true "
          "{:.3g} reported {:.3g} norm {:.3g}\n",
          settings.shape.to_string(), settings.real ? "real" : "complex", settings.k,
          to_string(settings.origin), settings.snr_db.value_or(0), settings.reference, settings.runs,
          to_string(plan.path), option, plan.bucket_count, plan.delays, plan.witness_samples, promised,
          result.samples, to_string(place), to_string(content), result.true_l2, result.reported_l2,
          result.norm);
    tallies[fmt::format("2 {}, promised", option)].add(result);
    tallies[fmt::format("3 {}, {}", option, to_string(content))].add(result);
    tallies[fmt::format("4 {}, k = {}, {}", option, settings.k, to_string(plan.path))].add(result);
    tallies[fmt::format("5 {}, {}", option,
                        settings.snr_db ? fmt::format("{:.0f} dB", *settings.snr_db) : "no noise")]
        .add(result);
    tallies[fmt::format("6 {}, {}{}", option, to_string(settings.origin),
                        settings.reference ? ", reference" : "")]
        .add(result);
    tallies[fmt::format("7 {}, {}{}", option, settings.shape.to_string(), settings.real ? " real" : "")].add(
        result);
  }
}

}  // namespace

nlohmann::json run_bursts(const BurstsOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const std::int64_t cases = (options.count + kFrames - 1) / kFrames;
  std::atomic<std::int64_t> next{0};
  std::mutex merging;
  Tallies all;
  const auto work = [&](int) {
    Tallies own;
    for (std::int64_t i = next++; i < cases; i = next++) {
      Random random(options.seed, static_cast<std::uint64_t>(i));
      const BurstSettings settings = draw_settings(options.quick, random);
      if (random.chance(0.5)) {
        measure_case<float>(settings, random, options.verbose, own);
      } else {
        measure_case<double>(settings, random, options.verbose, own);
      }
    }
    const std::lock_guard lock(merging);
    for (const auto& [name, tally] : own) all[name].add(tally);
  };
  bench::on_threads(options.threads, work);

  nlohmann::json rows = nlohmann::json::array();
  std::int64_t frames = 0;
  fmt::print("{:<40} {:>8} {:>8} {:>9} {:>9}\n", "", "frames", "silent", "share", "worst");
  for (const auto& [name, tally] : all) {
    if (name[0] == '1') frames += tally.frames;
    const double share = ErrorSummary::share(tally.silent, tally.frames);
    fmt::print("{:<40} {:>8} {:>8} {:>9.2g} {:>9.2g}\n", name.substr(2), tally.frames, tally.silent, share,
               tally.worst);
    rows.push_back({{"row", name.substr(2)},
                    {"frames", tally.frames},
                    {"silent", tally.silent},
                    {"worst", tally.worst}});
  }
  const double seconds = bench::seconds_since(start);
  fmt::print("\n{} frames in {:.1f} s\n", frames, seconds);
  return {{"rows", rows}, {"frames", frames}, {"seconds", seconds}};
}

}  // namespace sfft::trust
