// SPDX-License-Identifier: Apache-2.0
// Recordings: the tracker against FFTW float MEASURE (2D real to complex), one core, with the true error of
// every fifth frame. Input: grey YUV4MPEG2 files named on the command line, each optionally with a label:
//   bench_video [LABEL=]FILE.y4m … [--benchmark_out=…]
// `sfft-video` reads any recording; docs/benchmarks.md says how the files of the published table were made.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>

#include "bench/fftw_peer.hpp"
#include "bench/main.hpp"
#include "bench/recording.hpp"
#include "bench/signals.hpp"
#include "sfft/sfft.hpp"

namespace {

using namespace sfft;
using namespace sfft::bench;

/// Median time of frames that the plan reads in place. Each is read for the first time in a long while: with
/// `evict`, even the plan is evicted from the caches.
double in_place_us(const Plan<float>& plan, const Recording& recording, bool evict) {
  auto workspace = plan.make_workspace();
  auto spectrum = plan.make_spectrum();
  std::vector<double> seconds;
  for (std::int64_t t = 1; t < recording.frames(); t += evict ? 10 : 1) {
    if (evict) evict_caches();
    seconds.push_back(seconds_of([&] { plan.execute(recording.frame(t), spectrum, workspace); }));
  }
  return 1e6 * median(seconds);
}

/// One iteration is the whole recording; the reported time is that of the median frame.
void track(benchmark::State& state, std::shared_ptr<Recording> recording, std::int64_t k) {
  const dense::Plan<double> exact(recording->shape, Domain::real);
  std::vector<std::complex<double>> spectrum(exact.spectrum_points());
  const std::int64_t columns = recording->shape[1];
  std::vector<std::uint8_t> decoded(static_cast<std::size_t>(recording->shape.points()));
  std::vector<double> errors, reported;
  std::int64_t covered = 0;
  for (auto _ : state) {
    const Template tmpl = learn(recording->frame(0), {.keep = Largest{k}, .reference = true});
    Tracker<float> tracker(tmpl);
    std::vector<double> seconds;
    double total = 0;
    for (std::int64_t t = 1; t < recording->frames(); ++t) {
      // The frame was just written to the same memory, as by a decoder. FFTW receives it in the same way
      // below.
      const SignalView stored = recording->frame(t);
      std::copy_n(static_cast<const std::uint8_t*>(stored.data()), decoded.size(), decoded.begin());
      const auto start = std::chrono::steady_clock::now();
      const Tracker<float>::Frame& result = tracker.push(SignalView(decoded, recording->shape));
      seconds.push_back(seconds_since(start));
      total += seconds.back();
      if (t % 5 != 0) continue;
      exact.forward(recording->frame(t), spectrum);
      double error = 0;
      double norm = 0;
      const auto support = tracker.current_template().support();
      for (std::size_t i = 0; i < support.size(); ++i) {
        if (support[i] == 0) continue;
        const auto at =
            static_cast<std::size_t>(support[i] / columns * (columns / 2 + 1) + support[i] % columns);
        error += std::norm(std::complex<double>(result.spectrum.values[i]) - spectrum[at]);
        norm += std::norm(spectrum[at]);
      }
      errors.push_back(std::sqrt(error / norm));
      reported.push_back(result.spectrum.quality.relative_error);
      covered += std::sqrt(error) <= 2 * result.spectrum.quality.error_l2;
    }
    state.SetIterationTime(median(seconds));
    state.counters["distinct_us"] = in_place_us(tracker.plan(), *recording, false);
    state.counters["cold_us"] = in_place_us(tracker.plan(), *recording, true);
    state.counters["calibrated"] = static_cast<double>(tracker.calibrated());
    const PlanInfo& info = tracker.plan().info();
    state.counters["mean_us"] = 1e6 * total / static_cast<double>(seconds.size());
    state.counters["p95_us"] = 1e6 * lower_quantile(seconds, 0.95);
    state.counters["samples_fraction"] = info.samples_fraction;
    state.counters["learn_ms"] = 1e3 * tmpl.learn_seconds();
    state.counters["plan_ms"] = 1e3 * info.plan_seconds;
    state.counters["refreshed"] = static_cast<double>(tracker.refreshed());
    state.counters["relearned"] = static_cast<double>(tracker.relearned());
    state.counters["dense"] = static_cast<double>(tracker.dense_fallbacks());
    state.SetLabel(to_string(info.path));
  }
  state.counters["error_median"] = median(errors);
  state.counters["error_p95"] = lower_quantile(errors, 0.95);
  state.counters["error_max"] = lower_quantile(errors, 1);
  state.counters["reported_median"] = median(reported);
  state.counters["coverage"] = static_cast<double>(covered) / static_cast<double>(errors.size());
}

/// The same frames, already converted to float, so only the transform is timed.
void fftw(benchmark::State& state, std::shared_ptr<Recording> recording) {
  FftwPeer peer(static_cast<int>(recording->shape[0]), static_cast<int>(recording->shape[1]));
  std::int64_t t = 0;
  for (auto _ : state) {
    const SignalView frame = recording->frame(t++ % recording->frames());
    std::copy_n(static_cast<const std::uint8_t*>(frame.data()), frame.shape().points(), peer.real_input());
    state.SetIterationTime(seconds_of([&] { peer.execute(); }));
  }
}

/// The library's dense engine on the same frames, already converted to float.
void built_in(benchmark::State& state, std::shared_ptr<Recording> recording) {
  const dense::Plan<float> plan(recording->shape, Domain::real, {.engine = dense::Engine::built_in});
  std::vector<float> decoded(static_cast<std::size_t>(recording->shape.points()));
  std::vector<std::complex<float>> spectrum(plan.spectrum_points());
  std::int64_t t = 0;
  for (auto _ : state) {
    const SignalView frame = recording->frame(t++ % recording->frames());
    std::copy_n(static_cast<const std::uint8_t*>(frame.data()), decoded.size(), decoded.begin());
    state.SetIterationTime(
        seconds_of([&] { plan.forward(SignalView(decoded, recording->shape), spectrum); }));
  }
  state.SetLabel(plan.engine_name());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> inputs = take_inputs(argc, argv);
  for (const std::string& input : inputs) {
    const auto recording = read_recording(input);
    for (const std::int64_t k : {500, 1000, 2000}) {
      with_median(benchmark::RegisterBenchmark(fmt::format("video/{}/k:{}", recording->name, k).c_str(),
                                               [=](benchmark::State& s) { track(s, recording, k); }),
                  1, 3)
          ->UseManualTime();
    }
    with_median(benchmark::RegisterBenchmark(fmt::format("fftw/{}", recording->name).c_str(),
                                             [=](benchmark::State& s) { fftw(s, recording); }))
        ->UseManualTime();
    with_median(benchmark::RegisterBenchmark(fmt::format("built_in/{}", recording->name).c_str(),
                                             [=](benchmark::State& s) { built_in(s, recording); }))
        ->UseManualTime();
  }
  return run_registered(argc, argv, inputs);
}
