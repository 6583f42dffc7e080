// dense: the built-in engine against FFTW, in one, two and three dimensions.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <sstream>

#include "commands.hpp"
#include "fftw_plan.hpp"
#include "progress.hpp"
#include "sfft/dense.hpp"
#include "sfft/error.hpp"
#include "timing.hpp"

namespace sfft::apps {

namespace {

constexpr double kWarmSeconds = 0.05;

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

/// Planned engines of one shape, and their times so far.
struct DenseRun {
  std::string name, detail;
  std::function<void()> execute;
  std::function<std::span<const std::complex<float>>()> output;
  double plan_seconds = 0;
  std::vector<double> cold, warm;
};

std::vector<Row> measure(const Shape& shape, bool real, int rounds, ProgressBar& progress) {
  const auto points = static_cast<std::size_t>(shape.points());
  // Real samples are the first half of the complex ones' memory.
  LineVector<std::complex<float>> samples(points);
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  for (auto& sample : samples) sample = {normal(random), normal(random)};
  const SignalView view =
      real ? SignalView(reinterpret_cast<const float*>(samples.data()), points, ElementType::f32, shape)
           : SignalView(std::span<const std::complex<float>>(samples), shape);

  std::vector<DenseRun> runs;
#if SFFT_BENCH_FFTW
  std::optional<FftwPlan> fftw;
  progress.show(shape.to_string() + ": planning FFTW");
  const double fftw_seconds = seconds_of([&] { fftw.emplace(shape, real); });
  runs.push_back({"FFTW",
                  "float, FFTW_MEASURE",
                  [&] { fftw->execute(samples.data()); },
                  [&] { return fftw->output(); },
                  fftw_seconds,
                  {},
                  {}});
#endif
  std::optional<dense::Plan<float>> plan;
  LineVector<std::complex<float>> spectrum;
  LineVector<std::byte> workspace;
  const double seconds = seconds_of([&] {
    plan.emplace(shape, real, dense::Options{.engine = dense::Engine::built_in});
    spectrum.resize(plan->spectrum_points());
    workspace.resize(plan->workspace_bytes());
  });
  runs.push_back({"sfft dense",
                  "float, " + plan->engine_name(),
                  [&] { plan->forward(view, spectrum, workspace); },
                  [&] { return std::span<const std::complex<float>>(spectrum); },
                  seconds,
                  {},
                  {}});

  for (int round = 0; round < rounds; ++round) {
    for (DenseRun& run : runs) {
      progress.show(shape.to_string() + ": " + run.name);
      run.execute();
      evict_caches();
      run.cold.push_back(seconds_of(run.execute));
      run.warm.push_back(warm_seconds(run.execute, kWarmSeconds));
    }
    progress.step();
  }
  // The reference is FFTW in double precision where there is one, so that the built-in engine is not its own.
  const auto engine = dense::available(dense::Engine::fftw) ? dense::Engine::fftw : dense::Engine::built_in;
  const dense::Plan<double> exact(shape, real, {.engine = engine});
  std::vector<std::complex<double>> reference(exact.spectrum_points());
  exact.forward(view, reference);
  std::vector<Row> rows;
  for (const DenseRun& run : runs) {
    Row row;
    row.figure = "dense";
    row.contender = run.name;
    row.shape = shape.to_string() + (real ? " real" : "");
    row.points = row.nominal_points = shape.points();
    row.signals = rounds;
    row.missed = 0;
    row.relative_l2 = row.worst_l2 = relative_error(run.output(), reference);
    row.samples_read = static_cast<double>(points);
    row.plan_ms = 1e3 * run.plan_seconds;
    row.cold_us = 1e6 * median(run.cold);
    row.warm_us = 1e6 * median(run.warm);
    row.detail = run.detail;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::vector<Row> run_dense(const DenseOptions& options, const CommonOptions& common) {
  std::vector<std::string> names = options.shapes;
  if (names.empty()) {
    names = {"1024", "4096", "65536", "1048576", "1000", "1000000", "768x432", "1024x1024", "64x64x64"};
    if (!common.quick) {
      for (const char* name : {"4194304", "16777216", "1048573", "1080x1920", "128x128x128", "256x256x256"}) {
        names.emplace_back(name);
      }
    }
  }
  std::vector<Shape> shapes;
  for (const std::string& name : names) shapes.push_back(parse(name));
  const int rounds = common.signals > 0 ? common.signals : common.quick ? 3 : 7;
  ProgressBar progress(rounds * static_cast<int>(shapes.size()), common.quiet);
  const Table table(common.quiet);
  std::vector<Row> rows;
  for (const Shape& shape : shapes) {
    const std::vector<Row> measured = measure(shape, options.real, rounds, progress);
    progress.clear();
    table.print(measured);
    rows.insert(rows.end(), measured.begin(), measured.end());
  }
  return rows;
}

}  // namespace sfft::apps
