// Signals of unknown support: discovery against FFTW float MEASURE, one core, complex float samples.
// Names: blind/<case>/N:<N>/k:<k>/<warm|cold>, fftw/N:<N>; refuse/<case>/N:<N> is how long discovery takes to
// see that a signal is not sparse, dense/<case>/N:<N> the built-in dense transform that then takes over.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

#include "bench/fftw_peer.hpp"
#include "bench/main.hpp"
#include "bench/signals.hpp"
#include "sfft/discover_impl.hpp"
#include "tests/support/signals.hpp"

namespace {

using namespace sfft;
using namespace sfft::bench;

/// A signal with its known answer: unit coefficients of random phase, times N, and white noise.
struct Case {
  std::string name;
  Shape shape;
  SparseSpectrum truth;
  std::vector<std::complex<float>> samples;
  double snr;  ///< total signal power over total noise power; 0: no noise

  Case(std::string name_, const Shape& grid, std::int64_t k, double snr_db)
      : name(std::move(name_)),
        shape(grid),
        truth(grid.points(), k, static_cast<std::uint64_t>(grid.points() + k)),
        snr(std::isinf(snr_db) ? 0 : std::pow(10.0, snr_db / 10)) {
    const double sigma = snr > 0 ? std::sqrt(static_cast<double>(k) / snr) : 0;
    if (grid.rank() == 1) {
      samples = truth.samples<float>(sigma);
      return;
    }
    const dense::Plan<double> plan(grid, false);
    std::vector<std::complex<double>> spectrum(static_cast<std::size_t>(grid.points()));
    for (std::size_t i = 0; i < truth.support.size(); ++i)
      spectrum[static_cast<std::size_t>(truth.support[i])] = truth.values[i];
    plan.inverse(spectrum, std::span<std::complex<double>>(spectrum));
    samples.assign(spectrum.begin(), spectrum.end());
  }
};

void judge(benchmark::State& state, const Case& input, const Discovery& discovery) {
  std::int64_t missed = 0;
  double error = 0;
  double absolute = 0;
  const auto k = static_cast<double>(input.truth.support.size());
  for (std::size_t i = 0; i < input.truth.support.size(); ++i) {
    const auto at =
        std::lower_bound(discovery.support->begin(), discovery.support->end(), input.truth.support[i]);
    if (at == discovery.support->end() || *at != input.truth.support[i]) {
      ++missed;
      continue;
    }
    const auto value = discovery.values[static_cast<std::size_t>(at - discovery.support->begin())];
    error += std::norm(value - input.truth.values[i]);
    absolute += std::abs(value - input.truth.values[i]) / static_cast<double>(input.truth.points);
  }
  const double points = static_cast<double>(input.truth.points);
  state.counters["missed"] = static_cast<double>(missed);
  state.counters["verified"] = discovery.verified ? 1 : 0;
  state.counters["relative_l2"] = std::sqrt(error / k) / points;
  state.counters["reported_l2"] = discovery.relative_error;
  state.counters["samples"] = static_cast<double>(discovery.samples);
  state.counters["rounds"] = discovery.rounds;
  if (input.snr > 0) {
    const double floor = std::sqrt(std::numbers::pi / 4 * k / (input.snr * points));
    state.counters["error_over_floor"] = absolute / k / floor;
  }
  state.SetLabel(to_string(discovery.path));
}

void warm(benchmark::State& state, std::shared_ptr<Case> input) {
  const SignalView signal(input->samples, input->shape);
  DiscoverOptions options{.k = static_cast<std::int64_t>(input->truth.support.size())};
  Discovery discovery;
  for (auto _ : state) {
    discovery = discover(signal, options);
    benchmark::DoNotOptimize(discovery.values.data());
    ++options.seed;
  }
  judge(state, *input, discovery);
}

void cold(benchmark::State& state, std::shared_ptr<Case> input) {
  const SignalView signal(input->samples, input->shape);
  DiscoverOptions options{.k = static_cast<std::int64_t>(input->truth.support.size())};
  Discovery discovery = discover(signal, options);  // plans are shared by a process, not by a frame
  for (auto _ : state) {
    evict_caches();
    const auto start = std::chrono::steady_clock::now();
    discovery = discover(signal, options);
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    ++options.seed;
  }
  judge(state, *input, discovery);
}

/// The time until discovery gives up on what is not sparse.
void refuse(benchmark::State& state, std::shared_ptr<std::vector<std::complex<float>>> samples, Shape shape) {
  // discover() as it decides: its own dense transform would drown the time that is asked for here.
  const SignalView signal(*samples, shape);
  std::string why;
  DiscoverOptions options{.k = 50};
  bool refused = true;
  for (auto _ : state) {
    refused = !detail::discover_or_explain(signal, options, why) && refused;
    why.clear();
    ++options.seed;
  }
  state.counters["refused"] = refused ? 1 : 0;
}

void dense_time(benchmark::State& state, std::shared_ptr<std::vector<std::complex<float>>> samples,
                Shape shape) {
  const dense::Plan<float> plan(shape, false);
  std::vector<std::complex<float>> spectrum(plan.spectrum_points());
  for (auto _ : state) plan.forward(SignalView(*samples, shape), spectrum);
  state.SetLabel(plan.engine_name());
}

void fftw(benchmark::State& state, std::shared_ptr<Case> input) {
  FftwPeer peer(input->samples, input->shape.extents());
  for (auto _ : state) peer.execute();
}

void add(const std::string& name, const Shape& shape, std::int64_t k, double snr_db, bool with_fftw) {
  const auto input = std::make_shared<Case>(name, shape, k, snr_db);
  const std::string tail = fmt::format("{}/N:{}/k:{}", name, shape.to_string(), k);
  with_median(benchmark::RegisterBenchmark(fmt::format("blind/{}/warm", tail).c_str(),
                                           [=](benchmark::State& s) { warm(s, input); }));
  with_median(benchmark::RegisterBenchmark(fmt::format("blind/{}/cold", tail).c_str(),
                                           [=](benchmark::State& s) { cold(s, input); }),
              7)
      ->UseManualTime();
  if (!with_fftw) return;
  with_median(benchmark::RegisterBenchmark(fmt::format("fftw/N:{}", shape.to_string()).c_str(),
                                           [=](benchmark::State& s) { fftw(s, input); }));
}

void add_dense(const std::string& name, std::shared_ptr<std::vector<std::complex<float>>> samples,
               const Shape& shape) {
  with_median(benchmark::RegisterBenchmark(fmt::format("refuse/{}/N:{}", name, shape.to_string()).c_str(),
                                           [=](benchmark::State& s) { refuse(s, samples, shape); }));
  with_median(benchmark::RegisterBenchmark(fmt::format("dense/{}/N:{}", name, shape.to_string()).c_str(),
                                           [=](benchmark::State& s) { dense_time(s, samples, shape); }));
}

}  // namespace

int main(int argc, char** argv) {
  constexpr double kNoNoise = std::numeric_limits<double>::infinity();
  for (const int bits : {14, 18, 22, 24}) add("exact", Shape{std::int64_t{1} << bits}, 50, kNoNoise, true);
  for (const std::int64_t k : {500, 1000, 4000}) add("exact", Shape{1 << 22}, k, kNoNoise, false);
  for (const int bits : {18, 22}) add("20dB", Shape{std::int64_t{1} << bits}, 50, 20, false);
  add("0dB", Shape{1 << 22}, 50, 0, false);
  add("prime", Shape{1048573}, 50, kNoNoise, true);  // the largest prime below 2^20
  add("2D", Shape{1024, 1024}, 50, kNoNoise, true);
  add("3D", Shape{128, 128, 128}, 50, kNoNoise, true);
  for (const int bits : {18, 22}) {
    const SparseSpectrum nothing(std::int64_t{1} << bits, 0, 1);
    add_dense("white", std::make_shared<std::vector<std::complex<float>>>(nothing.samples<float>(1)),
              Shape{std::int64_t{1} << bits});
  }
  const std::vector<std::uint8_t> scene = test::film_frame(1024, 1024, 0);
  add_dense("scene", std::make_shared<std::vector<std::complex<float>>>(scene.begin(), scene.end()),
            Shape{1024, 1024});
  return run_registered(argc, argv);
}
