// SPDX-License-Identifier: Apache-2.0
// Synthesises signals of any rank. For each answer it tallies what was missed, how accurate the values are,
// and whether a wrong answer was vouched for. Medians go to the benchmark's counters.
#include "bench/discovery_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include "bench/timing.hpp"

namespace sfft::bench {

namespace {

std::vector<std::complex<float>> make_samples(const DiscoveryCase& kind, const SparseSpectrum& truth,
                                              std::uint64_t seed) {
  const double sigma =
      kind.noisy() ? std::sqrt(static_cast<double>(kind.k) * std::pow(10.0, -kind.snr_db / 10)) : 0;
  if (kind.shape.rank() == 1) return truth.samples<float>(sigma, seed);
  const dense::Plan<double> plan(kind.shape, Domain::complex);
  std::vector<std::complex<double>> spectrum(static_cast<std::size_t>(kind.shape.points()));
  for (std::size_t i = 0; i < truth.support.size(); ++i)
    spectrum[static_cast<std::size_t>(truth.support[i])] = truth.values[i];
  plan.inverse(spectrum, std::span<std::complex<double>>(spectrum));
  return {spectrum.begin(), spectrum.end()};
}

}  // namespace

std::string DiscoveryCase::label() const {
  return fmt::format("{}/N:{}/k:{}", name, shape.to_string(), k);
}

DiscoverySignal::DiscoverySignal(const DiscoveryCase& kind, std::uint64_t seed)
    : truth(kind.shape.points(), kind.k, 1000 * seed + static_cast<std::uint64_t>(kind.k)),
      samples(make_samples(kind, truth, seed)) {}

void DiscoveryTally::compare(const DiscoverySignal& signal, const std::vector<peers::Tone>& tones,
                             double samples, bool vouched) {
  std::unordered_map<std::int64_t, std::complex<double>> found;
  for (const peers::Tone& tone : tones) found[tone.frequency] = tone.value;
  const SparseSpectrum& truth = signal.truth;
  std::int64_t missed = 0;
  std::vector<std::complex<double>> values;
  for (std::size_t i = 0; i < truth.support.size(); ++i) {
    const auto hit = found.find(truth.support[i]);
    missed += hit == found.end() ? 1 : 0;
    values.push_back(hit == found.end() ? 0 : hit->second);
    absolute_error_ += std::abs(values.back() - truth.values[i]) / static_cast<double>(truth.points);
  }
  relative_l2_.push_back(truth.relative_error(values));
  samples_.push_back(samples);
  missed_ += missed;
  complete_ += missed == 0 ? 1 : 0;
  vouched_ += vouched ? 1 : 0;
  silent_ += vouched && missed > 0 ? 1 : 0;
}

void DiscoveryTally::add_times(double warm_seconds, double cold_seconds) {
  warm_.push_back(warm_seconds);
  cold_.push_back(cold_seconds);
}

void DiscoveryTally::report(benchmark::State& state) const {
  const auto signals = static_cast<double>(relative_l2_.size());
  const double coefficients = signals * static_cast<double>(kind_.k);
  state.SetIterationTime(median(warm_, 0));
  state.counters["cold_us"] = 1e6 * median(cold_, 0);
  state.counters["slowest_us"] = 1e6 * *std::max_element(warm_.begin(), warm_.end());
  state.counters["signals"] = signals;
  state.counters["complete"] = static_cast<double>(complete_);
  state.counters["vouched"] = static_cast<double>(vouched_);
  state.counters["silent_misses"] = static_cast<double>(silent_);
  state.counters["missed_share"] = static_cast<double>(missed_) / coefficients;
  state.counters["relative_l2"] = median(relative_l2_, 0);
  state.counters["worst_l2"] = *std::max_element(relative_l2_.begin(), relative_l2_.end());
  state.counters["samples"] = median(samples_, 0);
  if (!kind_.noisy()) return;
  const double floor =
      std::sqrt(std::numbers::pi / 4 * static_cast<double>(kind_.k) /
                (std::pow(10.0, kind_.snr_db / 10) * static_cast<double>(kind_.shape.points())));
  state.counters["error_over_floor"] = absolute_error_ / coefficients / floor;
}

}  // namespace sfft::bench
