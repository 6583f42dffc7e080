// SPDX-License-Identifier: Apache-2.0
// One call of each kind that may take long, for what watches and stops such calls.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sfft/sfft.hpp"

namespace sfft::bench {

/// `run` returns the bytes of its result, which are the same each time.
struct LongCall {
  std::string name;
  std::function<std::vector<std::byte>()> run;
};

template <class Values>
std::vector<std::byte> bytes_of(const Values& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// `points` samples of complex white noise with standard deviation 1 in each part, and `tones` tones of
/// magnitude 3.
inline std::vector<std::complex<float>> noise_with_tones(std::int64_t points, int tones, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<std::complex<float>> x(static_cast<std::size_t>(points));
  for (auto& sample : x) sample = {normal(random), normal(random)};
  for (int tone = 0; tone < tones; ++tone) {
    const auto f = static_cast<double>(random() % static_cast<std::uint64_t>(points));
    const std::complex<double> step = std::polar(1.0, 6.283185307179586 * f / static_cast<double>(points));
    std::complex<double> wave = 3;
    for (auto& sample : x) {
      sample += std::complex<float>(wave);
      wave *= step;
    }
  }
  return x;
}

/// Lines of `points` samples, a multiple of 1024, and images of `rows` × `columns`, transformed with
/// `threads` threads on the CPU.
inline std::vector<LongCall> long_calls(std::int64_t points, std::int64_t rows, std::int64_t columns,
                                        int threads) {
  using Samples = std::vector<std::complex<float>>;
  const auto x = std::make_shared<const Samples>(noise_with_tones(points, 40, 1));
  const auto blank = std::make_shared<const Samples>(noise_with_tones(points, 0, 2));
  const auto image = std::make_shared<const Samples>(noise_with_tones(rows * columns, 100, 3));
  const auto other = std::make_shared<const Samples>(noise_with_tones(rows * columns, 100, 4));
  const Shape plane{rows, columns};
  const Template tmpl = learn(SignalView(*image, plane), {.keep = Largest{300}, .threads = threads});
  std::vector<LongCall> calls;
  const auto add = [&](const std::string& name, std::function<std::vector<std::byte>()> run) {
    calls.push_back({name, std::move(run)});
  };
  add("learn", [=] {
    return bytes_of(learn(SignalView::line(*x), {.keep = Largest{64}, .threads = threads}).support());
  });
  add("learn above noise", [=] {
    return bytes_of(learn(SignalView::line(*x), {.keep = AboveNoise{6}, .threads = threads}).support());
  });
  add("learn at", [=] {
    const std::vector<std::int64_t> support{3, points / 2, points - 5};
    return bytes_of(learn_at(SignalView::line(*x), support, threads).support());
  });
  add("discover", [=] {
    return bytes_of(discover(SignalView::line(*x), {.k = 40, .threads = threads}).spectrum.values);
  });
  add("discover in noise", [=] {
    return bytes_of(discover(SignalView::line(*blank), {.k = 40, .threads = threads}).spectrum.values);
  });
  add("thorough plan", [=] {
    const Plan<float> plan(
        tmpl,
        {.device = Device::cpu(), .path = Path::comb, .effort = PlanEffort::thorough, .threads = threads});
    return bytes_of(plan.execute(SignalView(*image, plane)).values);
  });
  add("frames", [=, quick = Plan<float>(
                        tmpl, {.device = Device::cpu(), .effort = PlanEffort::quick, .threads = threads})] {
    const std::vector<SignalView> frames(500, SignalView(*image, plane));
    std::vector<Spectrum<float>> spectra(frames.size());
    Workspace workspace = quick.make_workspace();
    quick.execute(frames, spectra, workspace);
    return bytes_of(spectra.back().values);
  });
  add("tracker, new scene", [=] {
    Tracker<float> tracker(tmpl, {.plan = {.device = Device::cpu(), .threads = threads}});
    static_cast<void>(tracker.push(SignalView(*image, plane)));
    return bytes_of(tracker.push(SignalView(*other, plane)).spectrum.values);
  });
  const auto spectrum = std::make_shared<Samples>(x->size());
  // The last length has a prime factor between 13 and 61.
  for (const Shape& shape :
       {Shape{points}, Shape{points / 1024, 1024}, Shape{points - 1}, Shape{points / 64 * 61}}) {
    add("dense " + shape.to_string(), [=] {
      const dense::Plan<float> plan(shape, Domain::complex, {.threads = threads, .device = Device::cpu()});
      const std::span values(spectrum->data(), static_cast<std::size_t>(shape.points()));
      plan.forward(x->data(), ElementType::c64, values);
      plan.inverse(values, values);
      return bytes_of(values.first(1000));
    });
  }
  add("dense, real odd", [=] {
    std::int64_t n = 1;
    while (3 * n <= points) n *= 3;
    const dense::Plan<float> plan(Shape{n}, Domain::real, {.threads = threads, .device = Device::cpu()});
    plan.forward(x->data(), ElementType::f32, std::span(spectrum->data(), plan.spectrum_points()));
    return bytes_of(std::span(spectrum->data(), 1000));
  });
  const Template line =
      learn_at(SignalView::line(*x), std::vector<std::int64_t>{3, points / 2, points - 5}, threads);
  const PlanOptions exact{.device = Device::cpu(), .path = Path::dense, .threads = threads};
  add("dense frame",
      [=, plan = Plan<float>(line, exact)] { return bytes_of(plan.execute(SignalView::line(*x)).values); });
  add("dense frames", [=, plan = Plan<float>(line, exact)] {
    const std::vector<SignalView> frames(3, SignalView::line(*x));
    std::vector<Spectrum<float>> spectra(frames.size());
    Workspace workspace = plan.make_workspace();
    plan.execute(frames, spectra, workspace);
    return bytes_of(spectra.back().values);
  });
  add("dense, batch of 64 points", [=] {
    const dense::Plan<float> plan(
        Shape{64}, Domain::complex,
        {.threads = threads, .device = Device::cpu(), .batch = static_cast<std::int64_t>(x->size()) / 64});
    plan.forward(x->data(), ElementType::c64, *spectrum);
    return bytes_of(std::span(*spectrum).last(1000));
  });
  return calls;
}

}  // namespace sfft::bench
