// SPDX-License-Identifier: Apache-2.0
// 1D complex signals that are exactly sparse, with known support: the sparse plan against FFTW float MEASURE,
// on one core.
// Names: known/<precision>/N:<N>/k:<k>/<warm|cold>, fftw/float/N:<N>.
#include <fmt/format.h>

#include <map>
#include <memory>

#include "bench/fftw_peer.hpp"
#include "bench/main.hpp"
#include "bench/signals.hpp"

namespace {

using namespace sfft;
using namespace sfft::bench;

/// Inputs live until exit, so that peers and plans read the same samples.
template <class Real>
struct Case {
  SparseSpectrum truth;
  std::vector<std::complex<Real>> samples;
  Plan<Real> plan;

  Case(std::int64_t n, std::int64_t k)
      : truth(n, k, static_cast<std::uint64_t>(n + k)),
        samples(truth.samples<Real>()),
        plan(Template::from_support(Shape{n}, Domain::complex, truth.support)) {}
};

template <class Real>
void count(benchmark::State& state, const Case<Real>& input, const Spectrum<Real>& spectrum) {
  const PlanInfo& info = input.plan.info();
  state.counters["relative_l2"] = input.truth.relative_error(spectrum.values);
  state.counters["reported_l2"] = spectrum.quality.relative_error;
  state.counters["samples"] = static_cast<double>(info.samples);
  state.counters["buckets"] = static_cast<double>(info.bucket_count);
  state.counters["delays"] = static_cast<double>(info.delays);
  state.counters["plan_ms"] = 1e3 * info.plan_seconds;
  state.SetLabel(to_string(info.path));
}

template <class Real>
void sparse_warm(benchmark::State& state, std::shared_ptr<Case<Real>> input) {
  auto workspace = input->plan.make_workspace();
  auto spectrum = input->plan.make_spectrum();
  const SignalView frame = SignalView::line(input->samples);
  for (auto _ : state) {
    input->plan.execute(frame, spectrum, workspace);
    benchmark::DoNotOptimize(spectrum.values.data());
  }
  count(state, *input, spectrum);
}

template <class Real>
void sparse_cold(benchmark::State& state, std::shared_ptr<Case<Real>> input) {
  auto workspace = input->plan.make_workspace();
  auto spectrum = input->plan.make_spectrum();
  const SignalView frame = SignalView::line(input->samples);
  for (auto _ : state) {
    evict_caches();
    state.SetIterationTime(seconds_of([&] { input->plan.execute(frame, spectrum, workspace); }));
  }
  count(state, *input, spectrum);
}

void fftw(benchmark::State& state, std::shared_ptr<Case<float>> input) {
  FftwPeer peer(input->samples);
  for (auto _ : state) peer.execute();
  std::vector<std::complex<float>> values;
  for (const std::int64_t f : input->truth.support) values.push_back(peer.output(f));
  state.counters["relative_l2"] = input->truth.relative_error(values);
}

void add(std::int64_t n, std::int64_t k, bool with_fftw) {
  const auto single = std::make_shared<Case<float>>(n, k);
  const auto twice = std::make_shared<Case<double>>(n, k);
  const std::string tail = fmt::format("N:{}/k:{}", n, k);
  with_median(benchmark::RegisterBenchmark(fmt::format("known/float/{}/warm", tail).c_str(),
                                           [=](benchmark::State& s) { sparse_warm<float>(s, single); }));
  with_median(benchmark::RegisterBenchmark(fmt::format("known/float/{}/cold", tail).c_str(),
                                           [=](benchmark::State& s) { sparse_cold<float>(s, single); }),
              7)
      ->UseManualTime();
  with_median(benchmark::RegisterBenchmark(fmt::format("known/double/{}/warm", tail).c_str(),
                                           [=](benchmark::State& s) { sparse_warm<double>(s, twice); }));
  if (!with_fftw) return;
  with_median(benchmark::RegisterBenchmark(fmt::format("fftw/float/N:{}", n).c_str(),
                                           [=](benchmark::State& s) { fftw(s, single); }));
}

}  // namespace

int main(int argc, char** argv) {
  for (const int bits : {12, 16, 20, 22, 24}) add(std::int64_t{1} << bits, 64, true);
  for (const int bits : {16, 20, 24}) add(std::int64_t{1} << bits, 1000, false);
  add(1048573, 64, true);  // the largest prime below 2^20
  // In these cases dense wins: many coefficients of a short signal.
  for (const std::int64_t k : {256, 1024, 2048}) add(4096, k, false);
  for (const std::int64_t k : {4096, 16384}) add(65536, k, false);
  return run_registered(argc, argv);
}
