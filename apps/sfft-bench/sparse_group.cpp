// SPDX-License-Identifier: Apache-2.0
// Draws each signal once per length, runs all contenders on it in turn, and compares their results with the
// truth. Medians over the signals become the rows.
#include "sparse_group.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numbers>
#include <unordered_map>

#include "run_control.hpp"
#include "sfft/error.hpp"
#include "timing.hpp"

namespace sfft::apps {

namespace {

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
  if (std::isfinite(group.snr_db)) row.noise_floor = full_fft_floor(row.points, group.k, group.snr_db);
  row.threads = contender.threads();
  row.planner = contender.planner();
  row.note = thread_note(contender.threads());
  row.skipped = tally.skipped;
  if (!tally.skipped.empty()) return row;
  row.signals = tally.signals;
  row.missed = tally.missed / tally.signals;
  row.mean_error = tally.mean_error / tally.signals;
  row.relative_l2 = median(tally.errors);
  row.worst_l2 = *std::max_element(tally.errors.begin(), tally.errors.end());
  row.samples_read = median(tally.samples);
  row.plan_ms = 1e3 * median(tally.plan);
  if (std::isfinite(tally.learn.front())) row.learn_ms = 1e3 * median(tally.learn);
  row.cold_us = 1e6 * median(tally.cold);
  row.warm_us = 1e6 * median(tally.warm);
  row.detail = tally.detail;
  return row;
}

}  // namespace

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

double full_fft_floor(std::int64_t points, std::int64_t k, double snr_db) {
  return std::sqrt(std::numbers::pi / 4 * static_cast<double>(k) /
                   (std::pow(10, snr_db / 10) * static_cast<double>(points)));
}

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

}  // namespace sfft::apps
