// SPDX-License-Identifier: Apache-2.0
// The subcommand dense compares the built-in engine with FFTW at every setting, in one, two and three
// dimensions.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <sstream>

#include "commands.hpp"
#include "dense_run.hpp"
#include "fftw_plan.hpp"
#include "progress.hpp"
#include "run_control.hpp"
#include "sfft/dense.hpp"
#include "sfft/error.hpp"
#include "timing.hpp"

namespace sfft::apps {

namespace {

constexpr double kDenseSeconds = 0.05;

Shape parse(const std::string& text) {
  std::vector<std::int64_t> extents;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, 'x');) {
    char* end = nullptr;
    extents.push_back(std::strtoll(part.c_str(), &end, 10));
    if (part.empty() || *end != '\0') extents.back() = 0;
  }
  if (extents.empty() || text.back() == 'x' || extents.size() > 3 ||
      *std::min_element(extents.begin(), extents.end()) < 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("'{}' is not a shape: write 4096, 1080x1920 or 64x64x64", text));
  }
  return Shape(extents);
}

/// ‖a − b‖/‖b‖ of a spectrum in single precision.
double relative_error(std::span<const std::complex<float>> a, std::span<const std::complex<double>> b) {
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    error += std::norm(std::complex<double>(a[i]) - b[i]);
    norm += std::norm(b[i]);
  }
  return std::sqrt(error / norm);
}

/// Sets the timers of a CPU engine. `execute` runs it; its result is in `spectrum`.
void set_cpu_run(DenseRun& run, std::function<void()> execute,
                 std::span<const std::complex<float>> spectrum) {
  run.cold = [execute] {
    execute();
    evict_caches();
    return seconds_of(execute);
  };
  run.warm = [execute] { return warm_seconds(execute, kDenseSeconds); };
  run.output = [spectrum] { return std::vector<std::complex<float>>(spectrum.begin(), spectrum.end()); };
}

/// The built-in engine's plan and memory.
struct BuiltIn {
  std::optional<dense::Plan<float>> plan;
  LineVector<std::complex<float>> spectrum;
  LineVector<std::byte> workspace;

  BuiltIn(const Shape& shape, bool real, int threads) {
    plan.emplace(shape, real ? Domain::real : Domain::complex,
                 dense::Options{.engine = dense::Engine::built_in, .threads = threads});
    spectrum.resize(plan->spectrum_points());
    workspace.resize(plan->workspace_bytes());
  }
};

#if SFFT_BENCH_FFTW

template <class Wide, class Sample>
std::vector<Wide> widened(const SignalView& signal) {
  const auto* samples = static_cast<const Sample*>(signal.data());
  return {samples, samples + signal.shape().points()};
}

/// The spectrum of single-precision samples, computed in double precision. Uses FFTW if this program has it,
/// so that the built-in engine is not compared with itself; otherwise uses the built-in engine. Real signals
/// give a half spectrum.
std::vector<std::complex<double>> exact_spectrum(const SignalView& signal) {
  const Shape& shape = signal.shape();
  const std::vector<int> extents(shape.extents().begin(), shape.extents().end());
  std::vector<std::complex<double>> spectrum;
  const auto execute = [&](fftw_plan plan) {
    fftw_execute(plan);
    fftw_destroy_plan(plan);
  };
  const auto output = [&](std::int64_t bins) {
    spectrum.resize(static_cast<std::size_t>(bins));
    return reinterpret_cast<fftw_complex*>(spectrum.data());
  };
  if (is_complex(signal.type())) {
    auto samples = widened<std::complex<double>, std::complex<float>>(signal);
    auto* in = reinterpret_cast<fftw_complex*>(samples.data());
    auto* out = output(shape.points());
    execute(fftw_plan_dft(shape.rank(), extents.data(), in, out, FFTW_FORWARD, FFTW_ESTIMATE));
  } else {
    auto samples = widened<double, float>(signal);
    auto* out = output(shape.points() / extents.back() * (extents.back() / 2 + 1));
    execute(fftw_plan_dft_r2c(shape.rank(), extents.data(), samples.data(), out, FFTW_ESTIMATE));
  }
  return spectrum;
}

#else

std::vector<std::complex<double>> exact_spectrum(const SignalView& signal) {
  const dense::Plan<double> exact(signal.shape(), !is_complex(signal.type()) ? Domain::real : Domain::complex,
                                  {.engine = dense::Engine::built_in});
  std::vector<std::complex<double>> spectrum(exact.spectrum_points());
  exact.forward(signal, spectrum);
  return spectrum;
}

#endif

Row row_of(const DenseRun& run, const SignalView& signal, std::span<const std::complex<double>> reference) {
  Row row;
  row.figure = "dense";
  row.contender = run.name;
  row.device = run.device;
  row.shape = signal.shape().to_string() + (is_complex(signal.type()) ? "" : " real");
  row.points = row.nominal_points = signal.shape().points();
  row.threads = run.threads;
  row.planner = run.planner;
  row.note = thread_note(run.threads);
  row.skipped = run.skipped;
  if (!run.skipped.empty()) return row;
  row.signals = static_cast<std::int64_t>(run.warm_times.size());
  row.errors.missed = 0;
  row.errors.relative_l2 = row.errors.worst_l2 = relative_error(run.output(), reference);
  row.samples_read = static_cast<double>(row.points);
  row.times.plan_ms = 1e3 * run.plan_seconds;
  row.times.cold_us = 1e6 * median(run.cold_times);
  row.times.warm_us = 1e6 * median(run.warm_times);
  row.detail = run.detail;
  return row;
}

void measure(const Shape& shape, bool real, int rounds, const CommonOptions& common, ProgressBar& progress,
             Results& results) {
  const auto points = static_cast<std::size_t>(shape.points());
  // Real samples use the first half of the complex samples' memory.
  LineVector<std::complex<float>> samples(points);
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  for (auto& sample : samples) sample = {normal(random), normal(random)};
  const SignalView view =
      real ? SignalView(reinterpret_cast<const float*>(samples.data()), points, ElementType::f32, shape)
           : SignalView(std::span<const std::complex<float>>(samples), shape);

  std::vector<DenseRun> runs;
#if SFFT_BENCH_FFTW
  std::deque<FftwPlan> fftw;
  for (const FftwSetting& setting : common.cpu() ? common.lineup.fftw() : std::vector<FftwSetting>{}) {
    progress.show(shape.to_string() + ": planning " + setting.name());
    DenseRun run;
    run.name = setting.name();
    run.threads = setting.threads;
    run.planner = setting.planner_name();
    run.detail = FftwPlan::describe(setting);
    try {
      run.plan_seconds = seconds_of([&] { fftw.emplace_back(shape, real, setting); });
      const FftwPlan& plan = fftw.back();
      set_cpu_run(
          run, [&plan, &samples] { plan.execute(samples.data()); }, plan.output());
    } catch (const Error& error) {
      run.skipped = error.what();
    }
    runs.push_back(std::move(run));
  }
#endif
  std::deque<BuiltIn> built_in;
  for (const int threads : common.cpu() ? common.lineup.threads : std::vector<int>{}) {
    DenseRun run;
    run.name = with_threads("sfft dense", threads);
    run.threads = threads;
    run.plan_seconds = seconds_of([&] { built_in.emplace_back(shape, real, threads); });
    BuiltIn& engine = built_in.back();
    run.detail = "float, " + engine.plan->engine_name();
    set_cpu_run(
        run, [&engine, &view] { engine.plan->forward(view, engine.spectrum, engine.workspace); },
        engine.spectrum);
    runs.push_back(std::move(run));
  }
#if SFFT_BENCH_CUDA
  if (common.gpu) runs.push_back(cuda_dense_run(view));
#endif
  for (int round = 0; round < rounds; ++round) {
    for (DenseRun& run : runs) {
      check_interrupt();
      if (!run.skipped.empty()) continue;
      progress.show(shape.to_string() + ": " + run.name);
      run.cold_times.push_back(run.cold());
      run.warm_times.push_back(run.warm());
    }
    progress.step();
  }
  const auto reference = exact_spectrum(view);
  std::vector<Row> group;
  for (const DenseRun& run : runs) group.push_back(row_of(run, view, reference));
  progress.clear();
  results.add(group);
}

}  // namespace

void run_dense(const DenseOptions& options, const CommonOptions& common, Results& results) {
  std::vector<std::string> names = options.shapes;
  if (names.empty()) {
    names = {"1024", "4096", "65536", "1048576", "1000", "1000000", "768x432", "1024x1024", "64x64x64"};
    if (!common.quick) {
      for (const char* name : {"4194304", "16777216", "1048573", "1080x1920", "128x128x128", "256x256x256"}) {
        names.emplace_back(name);
      }
    }
  }
  const auto engines = static_cast<std::int64_t>(common.lineup.fftw().size() + common.lineup.threads.size());
  std::vector<Shape> shapes;
  for (const std::string& name : names) {
    shapes.push_back(parse(name));
    // Memory for samples, the spectrum in double precision, and a spectrum and scratch per contender.
    require_memory((64 + 16 * engines) * std::min(shapes.back().points(), std::int64_t{1} << 50), name);
  }
  const int rounds = common.signals > 0 ? common.signals : common.quick ? 3 : 7;
  ProgressBar progress(rounds * static_cast<int>(shapes.size()), common.quiet);
  for (const Shape& shape : shapes) measure(shape, options.real, rounds, common, progress, results);
}

}  // namespace sfft::apps
