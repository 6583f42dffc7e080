// SPDX-License-Identifier: Apache-2.0
// Tests learning on the GPU against learning on the CPU.
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/known_signals.hpp"
#include "kernels/dense/problem/problem.hpp"
#include "kernels/dense/request/gpu_runner.hpp"
#include "kernels/dense/wisdom/wisdom_problem.hpp"
#include "sfft/dense.hpp"
#include "sfft/learning/device_learning.hpp"
#include "template/learning/spectrum_layout.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/learning.hpp"

namespace sfft::test {
namespace {

class LearnGpu : public GpuTest {};

constexpr ElementType kTypes[] = {ElementType::u8,  ElementType::u16, ElementType::f32,
                                  ElementType::f64, ElementType::c64, ElementType::c128};

std::vector<Shape> shapes() {
  return {Shape{1},         Shape{2},         Shape{3},       Shape{5},       Shape{16},      Shape{63},
          Shape{101},       Shape{1000},      Shape{4096},    Shape{65537},   Shape{1, 7},    Shape{7, 1},
          Shape{8, 1},      Shape{2, 2},      Shape{12, 16},  Shape{9, 15},   Shape{96, 64},  Shape{431, 3},
          Shape{1, 1, 1},   Shape{6, 1, 1},   Shape{1, 1, 8}, Shape{1, 5, 1}, Shape{3, 3, 8}, Shape{5, 6, 7},
          Shape{16, 8, 17}, Shape{2, 129, 31}};
}

std::int64_t distinct(const Shape& shape, ElementType type) {
  return detail::SpectrumLayout{shape, !is_complex(type)}.distinct();
}

TEST_F(LearnGpu, TheLargestOfEveryShapeAndType) {
  for (const Shape& shape : shapes()) {
    for (const ElementType type : kTypes) {
      const Signal signal = random_signal(type, shape, 3);
      const std::int64_t all = distinct(shape, type);
      for (const std::int64_t k : {std::int64_t{1}, (all + 2) / 3, all}) {
        SCOPED_TRACE(shape.to_string() + " " + to_string(type) + " k " + std::to_string(k));
        compare(signal.view(), {.k = k, .reference = type == ElementType::u16});
      }
    }
  }
}

TEST_F(LearnGpu, EnergyAndThresholdOfEveryShapeAndType) {
  for (const Shape& shape : shapes()) {
    for (const ElementType type : kTypes) {
      const Signal signal = random_signal(type, shape, 5);
      SCOPED_TRACE(shape.to_string() + " " + to_string(type));
      for (const double energy : {0.1, 0.5, 0.93}) compare(signal.view(), {.energy = energy});
      for (const double sigma : {1.0, 2.5, 50.0}) compare(signal.view(), {.threshold_sigma = sigma});
    }
  }
}

TEST_F(LearnGpu, EnergyThatTakesMoreThanTheFirstCandidates) {
  const Shape shape{300, 400};
  const Signal signal = random_signal(ElementType::f32, shape, 8);
  for (const double energy : {0.3, 0.9, 0.999}) compare(signal.view(), {.energy = energy});
}

TEST_F(LearnGpu, SparseSignals) {
  for (const Shape& shape : {Shape{4096}, Shape{101}, Shape{48, 60}, Shape{8, 10, 12}}) {
    for (const bool real : {false, true}) {
      const auto sparse = SparseSignal::random(shape, real, 7, 11);
      const auto samples = sparse.samples();
      std::vector<double> parts;
      for (const std::complex<double>& sample : samples) parts.push_back(sample.real());
      const SignalView view = real ? SignalView(parts, shape) : SignalView(samples, shape);
      SCOPED_TRACE(shape.to_string());
      compare(view, {.k = 7});
      compare(view, {.energy = 0.9});
      compare(view, {.threshold_sigma = 6});
    }
  }
}

TEST_F(LearnGpu, FramesOfAFilm) {
  const Shape shape{108, 192};
  std::vector<std::vector<std::uint8_t>> film;
  std::vector<SignalView> frames;
  for (int t = 0; t < 5; ++t) film.push_back(film_frame(shape[0], shape[1], t));
  for (const auto& frame : film) frames.emplace_back(frame, shape);
  for (std::size_t count = 1; count <= frames.size(); ++count) {
    SCOPED_TRACE(count);
    const std::span<const SignalView> some(frames.data(), count);
    compare(some, {.k = 200, .reference = true});
    compare(some, {.energy = 0.95});
    compare(some, {.threshold_sigma = 4});
  }
}

TEST_F(LearnGpu, SeveralFramesOfEveryType) {
  for (const Shape& shape : {Shape{1}, Shape{97}, Shape{12, 1}, Shape{31, 32}, Shape{4, 6, 9}}) {
    for (const ElementType type : kTypes) {
      std::vector<Signal> signals;
      std::vector<SignalView> frames;
      for (unsigned t = 0; t < 3; ++t) signals.push_back(random_signal(type, shape, 20 + t));
      for (const Signal& signal : signals) frames.push_back(signal.view());
      SCOPED_TRACE(shape.to_string() + " " + to_string(type));
      compare(frames, {.k = std::min<std::int64_t>(6, distinct(shape, type))});
      compare(frames, {.energy = 0.6});
    }
  }
}

/// Wisdom that names the tuned kernels, whose output hook stores no spectrum of a single frame.
TEST_F(LearnGpu, TunedKernelsOfEveryShapeAndType) {
  for (const Shape& shape : {Shape{101}, Shape{1000}, Shape{1, 16}, Shape{7, 1}, Shape{12, 16}, Shape{9, 15},
                             Shape{96, 64}, Shape{5, 6, 7}, Shape{3, 3, 8}}) {
    for (const ElementType type : kTypes) {
      const detail::DenseProblem problem = detail::cuda::learning_problem(shape, type, 0);
      const auto key = detail::wisdom_problem<double>(problem);
      dense::forget_wisdom();
      detail::Wisdom::global().add(detail::gpu_platform(0), key, {"tuned", "", 1});
      SCOPED_TRACE(shape.to_string() + " " + to_string(type));
      const detail::cuda::MeanSpectrum mean(shape, type, 1, 0, detail::remembered_engines<double>(problem));
      EXPECT_FALSE(mean.stores_spectrum());
      std::vector<Signal> signals;
      std::vector<SignalView> frames;
      for (unsigned t = 0; t < 3; ++t) signals.push_back(random_signal(type, shape, 30 + t));
      for (const Signal& signal : signals) frames.push_back(signal.view());
      compare(frames[0], {.k = std::min<std::int64_t>(6, distinct(shape, type))});
      compare(frames[0], {.energy = 0.6});
      compare(frames[0], {.threshold_sigma = 2});
      compare(frames, {.energy = 0.6});
    }
  }
  dense::forget_wisdom();
}

TEST_F(LearnGpu, TiesGoToSmallerIndices) {
  for (const Shape& shape : {Shape{16}, Shape{1024}, Shape{8, 16}, Shape{4, 4, 8}}) {
    std::vector<double> impulse(static_cast<std::size_t>(shape.points()), 0.0);
    impulse[0] = 3;  // |X| = 3 everywhere
    const std::vector<double> zero(impulse.size(), 0.0);
    const std::vector<std::complex<double>> complex_impulse(impulse.begin(), impulse.end());
    const std::int64_t all = distinct(shape, ElementType::f64);
    for (const std::int64_t k : {std::int64_t{1}, std::int64_t{3}, all - 1, all}) {
      SCOPED_TRACE(shape.to_string() + " k " + std::to_string(k));
      compare(SignalView(impulse, shape), {.k = k});
      compare(SignalView(complex_impulse, shape), {.k = k});
      compare(SignalView(zero, shape), {.k = k});
    }
    compare(SignalView(zero, shape), {.energy = 0.5});
    compare(SignalView(zero, shape), {.threshold_sigma = 2});
  }
}

}  // namespace
}  // namespace sfft::test
