// SPDX-License-Identifier: Apache-2.0
// Learning a template against dense transforms of the same frame, on one core. Compares learn() by a dense
// transform with FFTW float MEASURE and ESTIMATE (the same transform), and what it learns with double FFTW.
//   bench_learn [[LABEL=]FILE.y4m …] [--benchmark_out=…]
// Complex lines: tones in white noise, tones alone, and pink noise. 8-bit frames: a synthetic scene, and the
// first frames of grey YUV4MPEG2 files. Times are CPU seconds of the thread over rounds in which learning and
// both plans of FFTW follow one another. Results are medians, and also ratios of the minimum times (_min).
// `first_frames` is the first call of the process for the shape, which makes tables. FFTW's planning time is
// listed separately. `automatic_frames` is LearnOptions::Method::automatic. The label says why it chose its
// method, and `automatic_discovery` is 1 where that was discovery. Times in frames are in units of one
// transform by FFTW. Names: learn/<signal>/<shape>/k:<k>.
#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>

#include "bench/known_signals.hpp"
#include "bench/main.hpp"
#include "bench/recording.hpp"
#include "sfft/sfft.hpp"

namespace {

using namespace sfft;
using namespace sfft::bench;

template <class Work>
double cpu_seconds_of(const Work& work) {
  const double start = thread_cpu_seconds();
  work();
  return thread_cpu_seconds() - start;
}

double min(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

/// The samples of one frame from which a template is learned.
struct Frame {
  std::string name;
  Shape shape{1};
  std::vector<std::uint8_t> grey;            ///< a real frame, or
  std::vector<std::complex<float>> complex;  ///< a complex frame

  bool real() const { return complex.empty(); }
  SignalView view() const { return real() ? SignalView(grey, shape) : SignalView(complex, shape); }
};

/// Single-precision FFTW out of place on samples already converted.
class FloatPeer {
 public:
  FloatPeer(const Frame& frame, unsigned effort) {
    const auto points = static_cast<std::size_t>(frame.shape.points());
    in_ = fftwf_alloc_complex(points);
    out_ = fftwf_alloc_complex(points);
    const std::vector<int> sides(frame.shape.extents().begin(), frame.shape.extents().end());
    const auto rank = static_cast<int>(sides.size());
    plan_seconds = cpu_seconds_of([&] {
      plan_ = frame.real()
                  ? fftwf_plan_dft_r2c(rank, sides.data(), reinterpret_cast<float*>(in_), out_, effort)
                  : fftwf_plan_dft(rank, sides.data(), in_, out_, FFTW_FORWARD, effort);
    });
    if (frame.real()) {
      std::copy(frame.grey.begin(), frame.grey.end(), reinterpret_cast<float*>(in_));
    } else {
      std::copy(frame.complex.begin(), frame.complex.end(), reinterpret_cast<std::complex<float>*>(in_));
    }
  }
  ~FloatPeer() {
    fftwf_destroy_plan(plan_);
    fftwf_free(in_);
    fftwf_free(out_);
  }
  FloatPeer(const FloatPeer&) = delete;
  FloatPeer& operator=(const FloatPeer&) = delete;
  void execute() const { fftwf_execute(plan_); }

  double plan_seconds = 0;

 private:
  fftwf_complex *in_ = nullptr, *out_ = nullptr;
  fftwf_plan plan_ = nullptr;
};

/// The exact spectrum as stored: all of it for a complex signal, half for a real one.
std::vector<std::complex<double>> exact_spectrum(const Frame& frame) {
  const std::vector<int> sides(frame.shape.extents().begin(), frame.shape.extents().end());
  const auto rank = static_cast<int>(sides.size());
  const std::int64_t last = frame.shape[rank - 1];
  const std::int64_t rows = frame.shape.points() / last;
  std::vector<std::complex<double>> spectrum(
      static_cast<std::size_t>(rows * (frame.real() ? last / 2 + 1 : last)));
  auto* const out = reinterpret_cast<fftw_complex*>(spectrum.data());
  std::vector<double> samples(frame.grey.begin(), frame.grey.end());
  std::copy(frame.complex.begin(), frame.complex.end(), spectrum.begin());
  const fftw_plan plan = frame.real()
                             ? fftw_plan_dft_r2c(rank, sides.data(), samples.data(), out, FFTW_ESTIMATE)
                             : fftw_plan_dft(rank, sides.data(), out, out, FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return spectrum;
}

struct Accuracy {
  double overlap;      ///< share of double FFTW's k largest coefficients that are in the support
  double value_error;  ///< largest |value − exact| / |exact|
  double tail_error;   ///< relative error of the energy outside the support
};

Accuracy compare(const Frame& frame, const Template& tmpl) {
  const std::vector<std::complex<double>> exact = exact_spectrum(frame);
  const std::int64_t last = frame.shape[frame.shape.rank() - 1];
  const std::int64_t stored = frame.real() ? last / 2 + 1 : last;
  std::vector<std::pair<double, std::int64_t>> ranked;  // −power, linear index
  double tail = 0;  // energy outside the support, never computed as the difference of two large sums
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t flat = at / stored * last + at % stored;
    const std::int64_t mirrored = frame.real() ? test::negated(frame.shape, flat) : flat;
    if (mirrored % last < stored && mirrored < flat) continue;  // both elements of the pair are stored
    ranked.emplace_back(-std::norm(exact[i]), flat);
    if (!std::binary_search(tmpl.support().begin(), tmpl.support().end(), flat))
      tail += (mirrored == flat ? 1 : 2) * std::norm(exact[i]);
  }
  std::nth_element(ranked.begin(), ranked.begin() + tmpl.k() - 1, ranked.end());
  std::int64_t common = 0;
  for (std::int64_t i = 0; i < tmpl.k(); ++i)
    common += std::binary_search(tmpl.support().begin(), tmpl.support().end(),
                                 ranked[static_cast<std::size_t>(i)].second);
  double worst = 0;
  for (std::size_t i = 0; i < tmpl.values().size(); ++i) {
    const std::int64_t flat = tmpl.support()[i];
    const std::complex<double> truth = exact[static_cast<std::size_t>(flat / last * stored + flat % last)];
    worst = std::max(worst, std::abs(tmpl.values()[i] - truth) / std::abs(truth));
  }
  return {static_cast<double>(common) / static_cast<double>(tmpl.k()), worst,
          std::abs(tmpl.tail_energy() - tail) / tail};
}

void learning(benchmark::State& state, const std::shared_ptr<const Frame>& frame, std::int64_t k) {
  const LearnOptions options{.keep = Largest{k}};
  const LearnOptions automatic{.keep = Largest{k}, .method = LearnOptions::Method::automatic};
  const SignalView view = frame->view();
  for (auto _ : state) {
    // FFTW measures each shape once, so cases of one shape are adjacent.
    static Shape planned{1};
    static double plan_seconds = 0;
    const double first = cpu_seconds_of([&] { benchmark::DoNotOptimize(learn(view, options)); });
    const FloatPeer measured(*frame, FFTW_MEASURE), estimated(*frame, FFTW_ESTIMATE);
    if (frame->shape != planned) plan_seconds = measured.plan_seconds;
    planned = frame->shape;
    const int turns = std::clamp(static_cast<int>(0.5 / first), 5, 201);
    std::vector<double> learn_s, automatic_s, measure_s, estimate_s;
    for (int turn = 0; turn < turns; ++turn) {
      learn_s.push_back(cpu_seconds_of([&] { benchmark::DoNotOptimize(learn(view, options)); }));
      automatic_s.push_back(cpu_seconds_of([&] { benchmark::DoNotOptimize(learn(view, automatic)); }));
      measure_s.push_back(cpu_seconds_of([&] { measured.execute(); }));
      estimate_s.push_back(cpu_seconds_of([&] { estimated.execute(); }));
    }
    const double learned = median(learn_s), measure = median(measure_s), estimate = median(estimate_s);
    state.SetIterationTime(learned);
    state.counters["frames_measure"] = learned / measure;
    state.counters["frames_estimate"] = learned / estimate;
    state.counters["first_frames"] = first / measure;
    state.counters["automatic_frames"] = median(automatic_s) / measure;
    state.counters["frames_measure_min"] = min(learn_s) / min(measure_s);
    state.counters["automatic_frames_min"] = min(automatic_s) / min(measure_s);
    state.counters["fftw_measure_us"] = 1e6 * measure;
    state.counters["fftw_estimate_us"] = 1e6 * estimate;
    state.counters["fftw_measure_plan_frames"] = plan_seconds / measure;
    state.counters["turns"] = turns;
  }
  const Template tried = learn(view, automatic);
  state.counters["automatic_discovery"] = tried.learned_by() == LearnOptions::Method::discovery ? 1 : 0;
  state.SetLabel(std::string(tried.why_learned_so()));
  const Accuracy accuracy = compare(*frame, learn(view, options));
  state.counters["overlap"] = accuracy.overlap;
  state.counters["value_error"] = accuracy.value_error;
  state.counters["tail_error"] = accuracy.tail_error;
}

void inverse(const Shape& shape, std::vector<std::complex<double>>& x) {
  const dense::Plan<double> plan(shape, Domain::complex);
  plan.inverse(x, x);
}

/// `tones` of random frequency and phase, with white noise of the same total energy, or without noise.
std::shared_ptr<const Frame> random_tones(std::int64_t n, std::int64_t tones, bool noisy) {
  auto frame = std::make_shared<Frame>();
  frame->name = noisy ? "tones" : "sparse";
  frame->shape = Shape{n};
  std::mt19937_64 random(static_cast<std::uint64_t>(n + tones));
  std::normal_distribution<double> normal;
  std::vector<std::complex<double>> x(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < tones; ++i)
    x[random() % static_cast<std::uint64_t>(n)] = std::complex<double>(normal(random), normal(random)) *
                                                  static_cast<double>(n) /
                                                  std::sqrt(static_cast<double>(tones));
  inverse(frame->shape, x);
  for (const auto& sample : x)
    frame->complex.emplace_back(noisy ? sample + std::complex<double>(normal(random), normal(random))
                                      : sample);
  return frame;
}

/// Noise whose power falls like 1/|f|.
std::shared_ptr<const Frame> pink(std::int64_t n) {
  auto frame = std::make_shared<Frame>();
  frame->name = "pink";
  frame->shape = Shape{n};
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  std::normal_distribution<double> normal;
  std::vector<std::complex<double>> x;
  for (std::int64_t f = 0; f < n; ++f) {
    const auto distance = static_cast<double>(std::max<std::int64_t>(1, std::min(f, n - f)));
    x.push_back(std::complex<double>(normal(random), normal(random)) * static_cast<double>(n) /
                std::sqrt(distance));
  }
  inverse(frame->shape, x);
  frame->complex.assign(x.begin(), x.end());
  return frame;
}

void add(const std::shared_ptr<const Frame>& frame, std::int64_t k) {
  benchmark::RegisterBenchmark(
      fmt::format("learn/{}/{}/k:{}", frame->name, frame->shape.to_string(), k).c_str(),
      [=](benchmark::State& state) { learning(state, frame, k); })
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> inputs = take_inputs(argc, argv);
  for (const int bits : {16, 18, 20, 22}) {
    const auto tones = random_tones(std::int64_t{1} << bits, 64, true);
    for (const std::int64_t k : {64, 1000}) add(tones, k);
    add(random_tones(std::int64_t{1} << bits, 64, false), 64);
    add(pink(std::int64_t{1} << bits), 1000);
  }
  add(random_tones(1000000, 64, true), 1000);
  for (const auto& [rows, columns] : {std::pair{360, 640}, {432, 768}, {576, 768}, {1080, 1920}}) {
    auto scene = std::make_shared<Frame>();
    scene->name = "scene";
    scene->shape = Shape{rows, columns};
    scene->grey = test::film_frame(rows, columns, 0);
    for (const std::int64_t k : {100, 1000}) add(scene, k);
  }
  for (const std::string& input : inputs) {
    const auto recording = read_recording(input);
    auto frame = std::make_shared<Frame>();
    frame->name = recording->name;
    frame->shape = recording->shape;
    frame->grey.assign(recording->samples.begin(), recording->samples.begin() + recording->shape.points());
    for (const std::int64_t k : {100, 1000}) add(frame, k);
  }
  return run_registered(argc, argv, inputs);
}
