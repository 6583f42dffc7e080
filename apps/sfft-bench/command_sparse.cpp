// SPDX-License-Identifier: Apache-2.0
// The subcommands sparse and noise compare contenders on signals whose spectrum is known.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <string>
#include <unordered_map>
#include <vector>

#include "commands.hpp"
#include "contender.hpp"
#include "progress.hpp"
#include "row.hpp"
#include "run_control.hpp"
#include "sfft/error.hpp"
#include "timing.hpp"

namespace sfft::apps {

namespace {

struct SparseGroup {
  std::string figure;
  std::int64_t points = 0, k = 0;
  double snr_db = kUnknown;  ///< NaN: exactly sparse
  int signals = 0;
};

constexpr double kWarmSeconds = 0.01;

struct Signal {
  bench::SparseSpectrum truth;
  LineVector<std::complex<float>> samples, earlier;

  Signal(std::int64_t points, const SparseGroup& group, int seed)
      : truth(points, group.k, static_cast<std::uint64_t>(1000 * seed + group.k)) {
    const bool noisy = std::isfinite(group.snr_db);
    const double sigma =
        noisy ? std::sqrt(static_cast<double>(group.k) * std::pow(10, -group.snr_db / 10)) : 0;
    const auto draw = [&](int noise_seed) {
      const auto made = truth.samples<float>(sigma, static_cast<std::uint64_t>(noise_seed));
      return LineVector<std::complex<float>>(made.begin(), made.end());
    };
    samples = draw(2 * seed);
    if (noisy) earlier = draw(2 * seed + 1);
  }
};

/// RowErrors::noise_floor: √(π/4 · k/(SNR·N)), where k/(SNR·N) is the noise power of one coefficient of a
/// full FFT in units of |X|² = N².
double full_fft_floor(std::int64_t points, std::int64_t k, double snr_db) {
  return std::sqrt(std::numbers::pi / 4 * static_cast<double>(k) /
                   (std::pow(10, snr_db / 10) * static_cast<double>(points)));
}

/// The measurements of one contender so far.
struct Tally {
  std::vector<double> plan, learn, cold, warm, errors, samples;
  double missed = 0, mean_error = 0;
  int signals = 0;
  std::string detail, skipped;
};

void compare(const SparseCase& problem, const Answer& answer, Tally& tally) {
  std::unordered_map<std::int64_t, std::complex<double>> found;
  for (const peers::Tone& tone : answer.tones) found[tone.frequency] = tone.value;
  std::vector<std::complex<double>> values;
  double missed = 0, error = 0;
  for (std::size_t i = 0; i < problem.truth.support.size(); ++i) {
    const auto hit = found.find(problem.truth.support[i]);
    missed += hit == found.end();
    values.push_back(hit == found.end() ? 0.0 : hit->second);
    error += std::abs(values.back() - problem.truth.values[i]) / static_cast<double>(problem.points);
  }
  tally.errors.push_back(problem.truth.relative_error(values));
  tally.missed += missed / static_cast<double>(problem.k);
  tally.mean_error += error / static_cast<double>(problem.k);
  tally.samples.push_back(static_cast<double>(answer.samples_read));
  tally.detail = answer.detail;
}

void run(Contender& contender, const SparseCase& problem, Tally& tally) {
  if (!contender.ready(problem)) contender.plan_timed(problem);
  tally.plan.push_back(contender.plan_seconds());
  tally.learn.push_back(contender.learn_seconds());
  contender.load(problem);
  contender.execute(problem);  // so that its vectors have grown
  tally.cold.push_back(contender.cold_seconds(problem));
  compare(problem, contender.answer(problem), tally);
  tally.warm.push_back(contender.warm_seconds(problem, kWarmSeconds));
  ++tally.signals;
}

void one_round(const SparseGroup& group, int seed, std::vector<std::unique_ptr<Contender>>& contenders,
               std::vector<Tally>& tallies, ProgressBar& progress) {
  std::map<std::int64_t, Signal> signals;  // by length
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    Contender& contender = *contenders[c];
    Tally& tally = tallies[c];
    check_interrupt();
    progress.show(fmt::format("N = {}, k = {}: {}", group.points, group.k, contender.label()));
    if (!tally.skipped.empty()) continue;
    try {
      const std::int64_t length = contender.length(group.points, group.k);
      const auto entry = signals.try_emplace(length, length, group, seed).first;
      const Signal& signal = entry->second;
      run(contender, {length, group.k, signal.samples, signal.truth, signal.earlier}, tally);
    } catch (const std::runtime_error& error) {  // sfft::Error included
      tally.skipped = error.what();
    }
  }
}

Row row_of(const SparseGroup& group, const Contender& contender, const Tally& tally) {
  Row row;
  row.figure = group.figure;
  row.contender = contender.name();
  row.device = contender.device();
  row.points = tally.skipped.empty() ? contender.length(group.points, group.k) : group.points;
  row.nominal_points = group.points;
  row.shape = fmt::format("{}", row.points);
  row.k = group.k;
  row.snr_db = group.snr_db;
  if (std::isfinite(group.snr_db)) row.errors.noise_floor = full_fft_floor(row.points, group.k, group.snr_db);
  row.threads = contender.threads();
  row.planner = contender.planner();
  row.note = thread_note(contender.threads());
  row.skipped = tally.skipped;
  if (!tally.skipped.empty()) return row;
  row.signals = tally.signals;
  row.errors.missed = tally.missed / tally.signals;
  row.errors.mean = tally.mean_error / tally.signals;
  row.errors.relative_l2 = median(tally.errors);
  row.errors.worst_l2 = *std::max_element(tally.errors.begin(), tally.errors.end());
  row.samples_read = median(tally.samples);
  row.times.plan_ms = 1e3 * median(tally.plan);
  if (std::isfinite(tally.learn.front())) row.times.learn_ms = 1e3 * median(tally.learn);
  row.times.cold_us = 1e6 * median(tally.cold);
  row.times.warm_us = 1e6 * median(tally.warm);
  row.detail = tally.detail;
  return row;
}

/// Throws invalid_argument for an impossible group, out_of_memory for one that is too large.
void check(const SparseGroup& group, std::size_t contenders) {
  if (group.k > group.points) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("k = {} exceeds the {} frequencies of a signal of {} points", group.k,
                            group.points, group.points));
  }
  // The signal is generated in double and kept in single precision; every full FFT keeps a spectrum.
  require_memory((64 + 8 * static_cast<std::int64_t>(contenders)) * group.points,
                 fmt::format("N = {}", group.points));
}

/// Returns one row per contender. Each signal is one round: every contender is planned if necessary, timed
/// once with cold caches, checked, and timed warm. Medians are over the signals. After a Ctrl-C the rows
/// cover the signals done so far.
std::vector<Row> measure(const SparseGroup& group, std::vector<std::unique_ptr<Contender>>& contenders,
                         ProgressBar& progress) {
  std::vector<Tally> tallies(contenders.size());
  try {
    for (int seed = 1; seed <= group.signals; ++seed) {
      one_round(group, seed, contenders, tallies, progress);
      progress.step();
    }
  } catch (const Interrupted&) {
    // The caller checks for the interrupt again when it has the rows.
  }
  std::vector<Row> rows;
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    if (tallies[c].signals > 0 || !tallies[c].skipped.empty()) {
      rows.push_back(row_of(group, *contenders[c], tallies[c]));
    }
  }
  return rows;
}

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
