// SPDX-License-Identifier: Apache-2.0
// Tests learning on the GPU against learning on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>

#include "bench/known_signals.hpp"
#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/dense/problem/problem.hpp"
#include "kernels/dense/request/gpu_runner.hpp"
#include "kernels/dense/wisdom/wisdom_problem.hpp"
#include "sfft/dense.hpp"
#include "sfft/error.hpp"
#include "sfft/learning/device_learning.hpp"
#include "sfft/template.hpp"
#include "template/data/template_data.hpp"
#include "template/learning/spectrum_layout.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft {
namespace {

using detail::Envelope;
using test::code_of;

class LearnGpu : public test::GpuTest {};

/// A signal of any element type that owns its samples.
struct Signal {
  Shape shape;
  ElementType type;
  std::vector<std::byte> bytes;

  SignalView view() const { return {bytes.data(), static_cast<std::size_t>(shape.points()), type, shape}; }
};

template <class T>
Signal make_signal(const Shape& shape, const std::vector<T>& samples) {
  Signal signal{shape, element_type_of<T>::value, {}};
  signal.bytes.resize(samples.size() * sizeof(T));
  std::memcpy(signal.bytes.data(), samples.data(), signal.bytes.size());
  return signal;
}

template <class T>
std::vector<T> random_samples(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<T> samples;
  for (std::int64_t i = 0; i < count; ++i) {
    const double re = normal(generator);
    if constexpr (std::is_integral_v<T>) {
      samples.push_back(static_cast<T>(std::clamp(100 + 30 * re, 0.0, 255.0) * (sizeof(T) == 1 ? 1 : 250)));
    } else if constexpr (std::is_floating_point_v<T>) {
      samples.push_back(static_cast<T>(0.5 + re));
    } else {
      using Real = typename T::value_type;
      samples.emplace_back(static_cast<Real>(re), static_cast<Real>(0.25 + normal(generator)));
    }
  }
  return samples;
}

Signal random_signal(ElementType type, const Shape& shape, unsigned seed) {
  const std::int64_t n = shape.points();
  switch (type) {
    case ElementType::u8:
      return make_signal(shape, random_samples<std::uint8_t>(n, seed));
    case ElementType::u16:
      return make_signal(shape, random_samples<std::uint16_t>(n, seed));
    case ElementType::f32:
      return make_signal(shape, random_samples<float>(n, seed));
    case ElementType::f64:
      return make_signal(shape, random_samples<double>(n, seed));
    case ElementType::c64:
      return make_signal(shape, random_samples<std::complex<float>>(n, seed));
    case ElementType::c128:
      break;
  }
  return make_signal(shape, random_samples<std::complex<double>>(n, seed));
}

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

/// Two transforms of one signal differ in L2 by at most this share of its norm: both round.
double transform_bound(const Shape& shape) {
  return 4 * test::fft_bound<double>(static_cast<double>(shape.points()));
}

/// How far the mean power of coefficients may move when each moves by `delta`.
double power_bound(double power, double delta) {
  return 1e-12 * power + 2 * std::sqrt(power) * delta + delta * delta;
}

void expect_near(const Envelope& gpu, const Envelope& cpu, double delta, const char* name) {
  ASSERT_EQ(gpu.power.size(), cpu.power.size()) << name;
  for (std::size_t c = 0; c < cpu.power.size(); ++c)
    EXPECT_LE(std::abs(gpu.power[c] - cpu.power[c]), power_bound(cpu.power[c], delta))
        << name << " cell " << c;
}

void expect_same(const Template& gpu, const Template& cpu) {
  const detail::TemplateData& g = *gpu.data();
  const detail::TemplateData& c = *cpu.data();
  EXPECT_EQ(g.shape, c.shape);
  EXPECT_EQ(g.real, c.real);
  ASSERT_EQ(*g.support, *c.support);
  EXPECT_EQ(g.reference, c.reference);
  EXPECT_EQ(g.change_measured, c.change_measured);

  double energy = c.tail_energy;
  for (const double power : c.power) energy += 2 * power;
  for (const std::complex<double>& value : c.values) energy += 2 * std::norm(value);
  const double error = transform_bound(c.shape) * std::sqrt(energy);
  // A single coefficient may have more than its share of the error.
  const double delta = 16 * error / std::sqrt(static_cast<double>(c.shape.points()));
  ASSERT_EQ(g.values.size(), c.values.size());
  ASSERT_EQ(g.power.size(), c.power.size());
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    EXPECT_LE(std::abs(g.values[i] - c.values[i]), delta) << "coefficient " << i;
    EXPECT_LE(std::abs(g.power[i] - c.power[i]), power_bound(c.power[i], delta)) << "coefficient " << i;
  }
  EXPECT_LE(std::abs(g.tail_energy - c.tail_energy), power_bound(c.tail_energy, error));
  EXPECT_NEAR(g.energy_captured, c.energy_captured, 1e-12);
  expect_near(g.tail_envelope, c.tail_envelope, delta, "tail");
  expect_near(g.change_envelope, c.change_envelope, delta, "change");
}

/// Either both learn the same or both fail with the same message.
void compare(std::span<const SignalView> frames, LearnOptions options) {
  std::optional<Template> cpu, gpu;
  std::string cpu_error, gpu_error;
  try {
    options.backend = Backend::cpu;
    cpu = learn(frames, options);
  } catch (const Error& error) {
    cpu_error = error.what();
  }
  try {
    options.backend = Backend::cuda;
    gpu = learn(frames, options);
  } catch (const Error& error) {
    gpu_error = error.what();
  }
  EXPECT_EQ(gpu_error, cpu_error);
  if (cpu && gpu) expect_same(*gpu, *cpu);
}

void compare(const SignalView& frame, const LearnOptions& options) {
  compare(std::span<const SignalView>(&frame, 1), options);
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
      const auto sparse = test::SparseSignal::random(shape, real, 7, 11);
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
  for (int t = 0; t < 5; ++t) film.push_back(test::film_frame(shape[0], shape[1], t));
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

TEST_F(LearnGpu, RefusesWhatTheCpuRefuses) {
  const Shape shape{24, 10};
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (std::size_t which = 0; which < 3; ++which) {
      std::vector<std::vector<double>> samples;
      std::vector<SignalView> frames;
      for (unsigned t = 0; t < 3; ++t) samples.push_back(random_samples<double>(shape.points(), t));
      samples[which][37] = bad;
      for (const auto& frame : samples) frames.emplace_back(frame, shape);
      SCOPED_TRACE(which);
      EXPECT_EQ(code_of([&] { learn(frames, {.k = 4, .backend = Backend::cuda}); }),
                ErrorCode::invalid_argument);
      compare(frames, {.k = 4});
    }
  }
  const Signal signal = random_signal(ElementType::f32, shape, 1);
  compare(signal.view(), {});
  compare(signal.view(), {.k = 5000});
  compare(signal.view(), {.threshold_sigma = 1e6});
}

TEST_F(LearnGpu, RefusesADeviceThatIsNotThere) {
  const std::vector<double> x(32, 1.0);
  for (const int device : {-1, 99}) {
    EXPECT_EQ(
        code_of([&] { learn(SignalView::line(x), {.k = 2, .backend = Backend::cuda, .device = device}); }),
        ErrorCode::backend_unavailable);
  }
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

TEST_F(LearnGpu, TheSameFramesGiveTheSameBits) {
  for (const Shape& shape : {Shape{1 << 20}, Shape{99991}, Shape{540, 961}, Shape{40, 50, 60}}) {
    const Signal a = random_signal(ElementType::f32, shape, 1);
    const Signal b = random_signal(ElementType::f32, shape, 2);
    const std::vector<SignalView> frames{a.view(), b.view()};
    const Template first = learn(frames, {.k = 500, .backend = Backend::cuda});
    for (int repeat = 0; repeat < 5; ++repeat) {
      const Template again = learn(frames, {.k = 500, .backend = Backend::cuda});
      EXPECT_EQ(*again.data()->support, *first.data()->support);
      EXPECT_TRUE(same_bits(again.data()->power, first.data()->power));
      EXPECT_EQ(again.data()->values, first.data()->values);
      EXPECT_TRUE(same_bits(again.data()->tail_envelope.power, first.data()->tail_envelope.power));
      EXPECT_TRUE(same_bits(again.data()->change_envelope.power, first.data()->change_envelope.power));
      EXPECT_EQ(again.tail_energy(), first.tail_energy());
    }
  }
}

TEST_F(LearnGpu, EveryFailedAllocationLeavesNothingBehind) {
  namespace cuda = detail::cuda;
  const Shape shape{64, 50};
  const Signal a = random_signal(ElementType::u8, shape, 1);
  const Signal b = random_signal(ElementType::u8, shape, 2);
  const std::vector<SignalView> frames{a.view(), b.view()};
  for (const LearnOptions& criterion :
       {LearnOptions{.k = 20}, LearnOptions{.energy = 0.5}, LearnOptions{.threshold_sigma = 2}}) {
    LearnOptions options = criterion;
    options.backend = Backend::cuda;
    const Template expected = learn(frames, options);
    const std::int64_t held = cuda::allocated_bytes();
    bool learned = false;
    int failures = 0;
    for (std::int64_t n = 1; !learned && n < 1000; ++n) {
      cuda::fail_allocation(n);
      try {
        learn(frames, options);
        learned = true;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
        ++failures;
      }
      cuda::fail_allocation(0);
      EXPECT_EQ(cuda::allocated_bytes(), held) << "allocation " << n;
      EXPECT_EQ(*learn(frames, options).data()->support, *expected.data()->support);
    }
    EXPECT_TRUE(learned);
    EXPECT_GE(failures, 10);
  }
}

TEST_F(LearnGpu, OffsetsPast31Bits) {
  constexpr std::int64_t kMemory = std::int64_t{100} << 30;
  if (static_cast<std::int64_t>(detail::cuda::device_info(0).memory_bytes) < kMemory)
    GTEST_SKIP() << "needs a GPU with 100 GiB of memory";
  const std::int64_t points = (std::int64_t{1} << 21) * 1025;
  std::vector<std::uint8_t> train(static_cast<std::size_t>(points), 0);
  for (std::size_t i = 0; i < train.size(); i += 5) train[i] = 200;  // X at multiples of N/5 alone
  const Template tmpl = learn(SignalView::line(train), {.k = 3, .backend = Backend::cuda});
  EXPECT_EQ(*tmpl.data()->support, (std::vector<std::int64_t>{0, points / 5, 2 * (points / 5)}));
  const double peak = 200 * static_cast<double>(points / 5);
  for (const std::complex<double>& value : tmpl.values()) EXPECT_LE(std::abs(value - peak), 1e-11 * peak);
  EXPECT_NEAR(tmpl.energy_captured(), 1, 1e-12);
}

TEST(LearnWithoutGpu, SaysWhy) {
  const std::string problem = detail::cuda::unavailable();
  if (problem.empty()) return;
  const std::vector<double> x(32, 1.0);
  try {
    learn(SignalView::line(x), {.k = 2, .backend = Backend::cuda});
    FAIL() << "learned without a GPU";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::backend_unavailable);
    EXPECT_EQ(error.what(), problem);
  }
}

}  // namespace
}  // namespace sfft
