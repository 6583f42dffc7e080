// SPDX-License-Identifier: Apache-2.0
// Signals of unknown support: discovery against FFTW and the published sparse algorithms, on one core, with
// complex float samples and the same signals for all.
//   bench_discovery [--seeds=100] [LABEL=FILE.y4m …] [Google Benchmark's options]
// Names: <candidate>/<case>/N:<N>/k:<k>. The time is the median over the signals, warm. FFAST, which needs a
// special length, reports it in the counter `length`. refuse/<case>/N:<N> is the time until discovery sees
// that a signal is not sparse, next to that of the dense transforms. The first frame of each recording is one
// more such signal.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "bench/discovery_case.hpp"
#include "bench/fftw_peer.hpp"
#include "bench/known_signals.hpp"
#include "bench/main.hpp"
#include "bench/recording.hpp"

namespace {

using namespace sfft;
using namespace sfft::bench;
using Samples = std::vector<std::complex<float>>;

/// Median of at least three calls that together take about 5 ms.
template <class Call>
double warm_seconds(const Call& call) {
  std::vector<double> times;
  for (double total = 0; times.size() < 3 || (total < 5e-3 && times.size() < 200); total += times.back())
    times.push_back(seconds_of(call));
  return median(std::move(times));
}

void discovery(benchmark::State& state, const DiscoveryCase& kind, int seeds) {
  DiscoveryTally tally(kind);
  std::int64_t dense = 0;
  std::vector<double> reported;
  std::optional<double> first;
  for (auto _ : state) {
    for (int seed = 1; seed <= seeds; ++seed) {
      const DiscoverySignal input(kind, static_cast<std::uint64_t>(seed));
      const SignalView signal(input.samples, kind.shape);
      DiscoverOptions options{.k = kind.k, .seed = static_cast<std::uint64_t>(seed)};
      Discovery found;
      const auto call = [&] {
        found = discover(signal, options);
        ++options.seed;
      };
      // There is no plan, so the first call of a process builds the tables of its small FFTs.
      if (!first) first = seconds_of(call);
      evict_caches();
      const double cold = seconds_of(call);
      std::vector<peers::Tone> tones;
      for (std::size_t i = 0; i < found.spectrum.values.size(); ++i)
        tones.push_back({(*found.spectrum.support)[i], found.spectrum.values[i]});
      tally.compare(input, tones, static_cast<double>(found.samples), found.verified);
      dense += found.support_learned_densely ? 1 : 0;
      reported.push_back(found.spectrum.quality.relative_error);
      state.SetLabel(to_string(found.spectrum.path));
      tally.add_times(warm_seconds(call), cold);
    }
    tally.report(state);
  }
  state.counters["plan_us"] = 1e6 * *first;
  state.counters["dense"] = static_cast<double>(dense);
  state.counters["reported_l2"] = median(std::move(reported), 0);
}

void published(benchmark::State& state, DiscoveryCase kind, peers::Method method, int seeds) {
  DiscoveryTally tally(kind);
  std::unique_ptr<peers::Peer<float>> peer;
  std::vector<peers::Tone> tones;
  double plan_seconds = 0;
  try {
    if (method == peers::Method::ffast) kind.shape = Shape{peers::ffast_length(kind.shape.points(), kind.k)};
    plan_seconds = seconds_of([&] { peer = peers::make_peer<float>(method, kind.shape.points(), kind.k); });
  } catch (const Error& error) {
    state.SkipWithError(error.what());
    return;
  }
  for (auto _ : state) {
    for (int seed = 1; seed <= seeds; ++seed) {
      const DiscoverySignal input(kind, static_cast<std::uint64_t>(seed));
      const auto call = [&] { peer->execute(input.samples, tones); };
      call();
      evict_caches();
      const double cold = seconds_of(call);
      tally.compare(input, tones, static_cast<double>(peer->samples_read()), false);
      tally.add_times(warm_seconds(call), cold);
    }
    tally.report(state);
  }
  state.counters["plan_us"] = 1e6 * plan_seconds;
  state.counters["length"] = static_cast<double>(kind.shape.points());
  state.SetLabel(peer->describe());
}

void fftw(benchmark::State& state, const DiscoveryCase& kind) {
  DiscoveryTally tally(kind);
  const DiscoverySignal input(kind, 1);
  std::optional<FftwPeer> peer;
  const double plan_seconds = seconds_of([&] { peer.emplace(input.samples, kind.shape.extents()); });
  for (auto _ : state) {
    peer->execute();
    evict_caches();
    const double cold = seconds_of([&] { peer->execute(); });
    std::vector<peers::Tone> tones;
    for (const std::int64_t f : input.truth.support)
      tones.push_back({f, std::complex<double>(peer->output(f))});
    tally.compare(input, tones, static_cast<double>(kind.shape.points()), false);
    std::vector<double> times;
    for (int i = 0; i < 7; ++i) times.push_back(warm_seconds([&] { peer->execute(); }));
    tally.add_times(median(std::move(times)), cold);
    tally.report(state);
  }
  state.counters["plan_us"] = 1e6 * plan_seconds;
}

/// Times discovery until it gives up on a signal that is not sparse, and a dense transform of the same
/// signal.
void refuse(benchmark::State& state, const Samples& samples, const Shape& shape) {
  const SignalView signal(samples, shape);
  const dense::Plan<float> plan(shape, Domain::complex);
  Samples spectrum(plan.spectrum_points());
  const FftwPeer peer(samples, shape.extents());
  DiscoverOptions options{.k = 50};
  std::vector<double> search, dense, fftw;
  double refused = 0;
  constexpr int kCalls = 15;
  for (auto _ : state) {
    for (int i = 0; i < kCalls; ++i) {
      dense.push_back(seconds_of([&] { plan.forward(signal, spectrum); }));
      fftw.push_back(seconds_of([&] { peer.execute(); }));
      const Discovery discovery = discover(signal, options);
      search.push_back(discovery.search_seconds);
      refused += discovery.spectrum.path == Path::dense ? 1.0 / kCalls : 0;
      ++options.seed;
    }
    state.SetIterationTime(median(search));
  }
  state.counters["refused"] = refused;
  state.counters["dense_us"] = 1e6 * median(dense);
  state.counters["fftw_us"] = 1e6 * median(fftw);
  state.counters["share_of_dense"] = median(search) / std::min(median(dense), median(fftw));
}

template <class Function>
void add(const std::string& name, const Function& function) {
  benchmark::RegisterBenchmark(name.c_str(), function)
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

void add_case(const DiscoveryCase& kind, int seeds, bool with_peers) {
  using enum peers::Method;
  add("sfft/" + kind.label(), [=](benchmark::State& state) { discovery(state, kind, seeds); });
  add("fftw/" + kind.label(), [=](benchmark::State& state) { fftw(state, kind); });
  if (!with_peers) return;
  // The times of published algorithms hardly vary between signals, so they run on a tenth of them.
  const int some = std::max(1, seeds / 10);
  for (const peers::Method method : {sfft1, sfft2, sfft3, aafft, ffast}) {
    if (kind.noisy() && (method == sfft3 || method == ffast)) continue;
    add(std::string(peers::to_string(method)) + "/" + kind.label(),
        [=](benchmark::State& state) { published(state, kind, method, some); });
  }
}

void add_dense(const std::string& name, std::shared_ptr<const Samples> samples, const Shape& shape) {
  add(fmt::format("refuse/{}/N:{}", name, shape.to_string()),
      [=](benchmark::State& state) { refuse(state, *samples, shape); });
}

void add_all(int seeds, const std::vector<std::string>& recordings) {
  for (const int bits : {14, 18, 22, 24})
    add_case({"exact", Shape{std::int64_t{1} << bits}, 50}, seeds, true);
  for (const std::int64_t k : {500, 1000, 4000}) add_case({"exact", Shape{1 << 22}, k}, seeds, true);
  for (const int bits : {18, 22}) add_case({"20dB", Shape{std::int64_t{1} << bits}, 50, 20}, seeds, true);
  add_case({"0dB", Shape{1 << 22}, 50, 0}, seeds, true);
  add_case({"prime", Shape{1048573}, 50}, seeds, false);  // the largest prime below 2^20
  add_case({"2D", Shape{1024, 1024}, 50}, seeds, false);
  add_case({"3D", Shape{128, 128, 128}, 50}, seeds, false);
  for (const int bits : {18, 22}) {
    const SparseSpectrum nothing(std::int64_t{1} << bits, 0, 1);
    add_dense("white", std::make_shared<Samples>(nothing.samples<float>(1)), Shape{std::int64_t{1} << bits});
  }
  const std::vector<std::uint8_t> scene = test::film_frame(1024, 1024, 0);
  add_dense("scene", std::make_shared<Samples>(scene.begin(), scene.end()), Shape{1024, 1024});
  for (const std::string& input : recordings) {
    const std::shared_ptr<Recording> recording = read_recording(input);
    const auto pixels = static_cast<std::ptrdiff_t>(recording->shape.points());
    add_dense(recording->name,
              std::make_shared<Samples>(recording->samples.begin(), recording->samples.begin() + pixels),
              recording->shape);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> rest{argv[0]};
  std::vector<std::string> inputs, recordings;
  int seeds = 100;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--seeds=", 0) == 0) {
      seeds = std::max(1, std::atoi(word.c_str() + 8));
    } else if (word[0] == '-') {
      rest.push_back(argv[i]);
      continue;
    } else {
      recordings.push_back(word);
    }
    inputs.push_back(word);
  }
  add_all(seeds, recordings);
  return run_registered(static_cast<int>(rest.size()), rest.data(), inputs);
}
