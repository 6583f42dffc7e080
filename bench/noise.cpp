// SPDX-License-Identifier: Apache-2.0
// White noise: the error relative to the least-squares floor for the samples read, and how often the standard
// errors cover it. Name: noise/N:<N>/k:<k>/snr_db:<dB>; one iteration is `seeds` independent signals.
#include <fmt/format.h>
#include <optional>

#include "bench/main.hpp"
#include "bench/signals.hpp"

namespace {

using namespace sfft;
using namespace sfft::bench;

void noise(benchmark::State& state, std::int64_t n, std::int64_t k, double snr_db, double max_samples,
           int seeds) {
  double squared_ratio = 0;
  double error = 0;
  double tail_ratio = 0;
  std::int64_t covered = 0;
  double samples = 0;
  double learned_right = 0;
  for (auto _ : state) {
    for (int seed = 1; seed <= seeds; ++seed) {
      const SparseSpectrum truth(n, k, static_cast<std::uint64_t>(seed));
      // Σ|x|²/N of the sparse part is k, since every coefficient has modulus N.
      const double sigma = std::sqrt(static_cast<double>(k) * std::pow(10, -snr_db / 10));
      const auto first = truth.samples<float>(sigma, static_cast<std::uint64_t>(1000 + seed));
      const auto frame = truth.samples<float>(sigma, static_cast<std::uint64_t>(2000 + seed));
      const Template tmpl = learn(SignalView::line(first), {.keep = Largest{k}});
      learned_right += std::equal(truth.support.begin(), truth.support.end(), tmpl.support().begin());
      const Plan<float> plan(tmpl,
                             {.max_samples = max_samples > 0 ? std::optional(max_samples) : std::nullopt});
      const Spectrum<float> spectrum = plan.execute(SignalView::line(frame));
      samples = static_cast<double>(plan.info().samples);
      // With m samples and orthogonal columns, E|error|² = N² sigma²/m per coefficient.
      const double floor = static_cast<double>(n) * sigma / std::sqrt(samples);
      double squares = 0;
      for (std::size_t i = 0; i < truth.values.size(); ++i) {
        const std::complex<double> miss = std::complex<double>(spectrum.values[i]) - truth.values[i];
        squares += std::norm(miss);
        const double two_sigma = 2 * spectrum.standard_error[i] / std::numbers::sqrt2;
        covered += std::abs(miss.real()) <= two_sigma;
        covered += std::abs(miss.imag()) <= two_sigma;
      }
      squared_ratio += squares / (static_cast<double>(k) * floor * floor);
      error += truth.relative_error(spectrum.values);
      tail_ratio += spectrum.quality.tail_energy /
                    (static_cast<double>(n - k) * static_cast<double>(n) * sigma * sigma);
    }
  }
  const double runs = static_cast<double>(state.iterations()) * seeds;
  state.counters["error_over_floor"] = std::sqrt(squared_ratio / runs);
  state.counters["relative_l2"] = error / runs;
  state.counters["coverage_2se"] = static_cast<double>(covered) / (runs * 2 * static_cast<double>(k));
  state.counters["tail_over_truth"] = tail_ratio / runs;
  state.counters["samples"] = samples;
  state.counters["samples_fraction"] = samples / static_cast<double>(n);
  state.counters["support_right"] = learned_right / runs;
}

}  // namespace

int main(int argc, char** argv) {
  for (const double snr_db : {20.0, 10.0}) {
    const std::int64_t n = 1 << 20;
    benchmark::RegisterBenchmark(fmt::format("noise/N:{}/k:64/snr_db:{}", n, snr_db).c_str(),
                                 [=](benchmark::State& s) { noise(s, n, 64, snr_db, 0.02, 20); })
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
  return run_registered(argc, argv);
}
