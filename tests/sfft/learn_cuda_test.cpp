// SPDX-License-Identifier: Apache-2.0
// Tests learning on the GPU against learning on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "bench/known_signals.hpp"
#include "kernels/dense/problem/problem.hpp"
#include "kernels/dense/request/choose/gpu_choice.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"
#include "sfft/dense.hpp"
#include "sfft/discover.hpp"
#include "sfft/learning/device_learning.hpp"
#include "sfft/template_access.hpp"
#include "template/learning/learning_spectrum.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/learning.hpp"
#include "tests/support/throws.hpp"

namespace sfft::test::learn_cuda_test {
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
        compare(signal.view(), {.keep = Largest{k}, .reference = type == ElementType::u16});
      }
    }
  }
}

TEST_F(LearnGpu, EnergyAndThresholdOfEveryShapeAndType) {
  for (const Shape& shape : shapes()) {
    for (const ElementType type : kTypes) {
      const Signal signal = random_signal(type, shape, 5);
      SCOPED_TRACE(shape.to_string() + " " + to_string(type));
      for (const double energy : {0.1, 0.5, 0.93}) compare(signal.view(), {.keep = Energy{energy}});
      for (const double sigma : {1.0, 2.5, 50.0}) compare(signal.view(), {.keep = AboveNoise{sigma}});
    }
  }
}

TEST_F(LearnGpu, EnergyThatTakesMoreThanTheFirstCandidates) {
  const Shape shape{300, 400};
  const Signal signal = random_signal(ElementType::f32, shape, 8);
  for (const double energy : {0.3, 0.9, 0.999}) compare(signal.view(), {.keep = Energy{energy}});
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
      compare(view, {.keep = Largest{7}});
      compare(view, {.keep = Energy{0.9}});
      compare(view, {.keep = AboveNoise{6}});
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
    compare(some, {.keep = Largest{200}, .reference = true});
    compare(some, {.keep = Energy{0.95}});
    compare(some, {.keep = AboveNoise{4}});
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
      compare(frames, {.keep = Largest{std::min<std::int64_t>(6, distinct(shape, type))}});
      compare(frames, {.keep = Energy{0.6}});
    }
  }
}

/// Compares the largest coefficients that a MeanSpectrum finds with the engines that wisdom names. learn()
/// uses another algorithm for the k largest of one frame.
void compare_largest(const Signal& signal) {
  const detail::SpectrumLayout layout{signal.shape, !is_complex(signal.type)};
  const std::int64_t k = std::min<std::int64_t>(6, layout.distinct());
  const Template expected = learn(signal.view(), {.keep = Largest{k}});
  const auto problem = detail::cuda::learning_problem(signal.shape, signal.type, 0);
  detail::cuda::MeanSpectrum mean(signal.shape, signal.type, 1, 0,
                                  detail::remembered_engines<double>(problem));
  mean.add(signal.view());
  mean.finish();
  const detail::cuda::ChosenElements chosen = mean.largest(0, k);
  std::vector<std::int64_t> support;
  for (const std::int64_t index : chosen.indices) support.push_back(layout.linear_index(index));
  ASSERT_EQ(support, *detail::data_of(expected)->support);
  EXPECT_LE(relative_l2(mean.first_values(chosen.indices), expected.values()),
            16 * transform_bound(signal.shape));
}

/// Wisdom names the tuned kernels, whose output hook stores no spectrum of a single frame.
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
      compare_largest(signals[0]);
      for (const Signal& signal : signals) frames.push_back(signal.view());
      compare(frames[0], {.keep = Largest{std::min<std::int64_t>(6, distinct(shape, type))}});
      compare(frames[0], {.keep = Energy{0.6}});
      compare(frames[0], {.keep = AboveNoise{2}});
      compare(frames, {.keep = Energy{0.6}});
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
      compare(SignalView(impulse, shape), {.keep = Largest{k}});
      compare(SignalView(complex_impulse, shape), {.keep = Largest{k}});
      compare(SignalView(zero, shape), {.keep = Largest{k}});
    }
    compare(SignalView(zero, shape), {.keep = Energy{0.5}});
    compare(SignalView(zero, shape), {.keep = AboveNoise{2}});
  }
}

DeviceView resident(const OnDevice<std::byte>& bytes, const Signal& signal) {
  return {bytes.get(), signal.type, signal.shape};
}

TEST_F(LearnGpu, FramesInGpuMemory) {
  std::vector<Shape> all = shapes();
  all.insert(all.end(), {Shape{262, 30}, Shape{12, 262}, Shape{360, 640}});  // 131 is no single-pass length
  for (const Shape& shape : all) {
    for (const ElementType type : kTypes) {
      const Signal signal = random_signal(type, shape, 6);
      const OnDevice<std::byte> bytes(signal.bytes);
      const std::int64_t count = distinct(shape, type);
      for (LearnOptions options :
           {LearnOptions{.keep = Largest{(count + 2) / 3}, .reference = true},
            LearnOptions{.keep = Energy{0.7}}, LearnOptions{.keep = AboveNoise{1.5}}}) {
        SCOPED_TRACE(shape.to_string() + " " + to_string(type));
        if (shape.points() > 100000 && std::holds_alternative<Largest>(*options.keep))
          options.keep = Largest{1000};
        std::optional<Template> cpu;
        try {
          cpu = learn(signal.view(), options);
        } catch (const Error& error) {
          EXPECT_EQ(code_of([&] { learn(resident(bytes, signal), options); }), error.code());
          continue;
        }
        const Template gpu = learn(resident(bytes, signal), options);
        expect_same(gpu, *cpu);
        EXPECT_EQ(gpu.has_reference(), options.reference);
        EXPECT_EQ(gpu.learned_by(), LearnOptions::Method::dense);
      }
    }
  }
}

TEST_F(LearnGpu, FramesAtAnyAddress) {
  const Shape shape{31, 40};
  for (const ElementType type : kTypes) {
    const Signal signal = random_signal(type, shape, 12);
    const Template expected = learn(signal.view(), {.keep = Largest{50}});
    for (const std::size_t offset : {1, 2, 4, 8}) {
      const OnDevice<std::byte> bytes(signal.bytes.size() + offset);
      ASSERT_EQ(
          cudaMemcpy(bytes.get() + offset, signal.bytes.data(), signal.bytes.size(), cudaMemcpyHostToDevice),
          cudaSuccess);
      SCOPED_TRACE(std::string(to_string(type)) + " offset " + std::to_string(offset));
      expect_same(learn(DeviceView{bytes.get() + offset, type, shape}, {.keep = Largest{50}}), expected);
      expect_same(learn(DeviceView{bytes.get() + offset, type, shape}, {.keep = Energy{0.5}}),
                  learn(signal.view(), {.keep = Energy{0.5}}));
    }
  }
}

TEST_F(LearnGpu, FramesInPageLockedMemory) {
  const Signal signal = random_signal(ElementType::u8, Shape{90, 160}, 3);
  const detail::cuda::PinnedBuffer locked(signal.bytes.size());
  std::memcpy(locked.data(), signal.bytes.data(), signal.bytes.size());
  expect_same(learn(DeviceView{locked.data(), signal.type, signal.shape}, {.keep = Largest{100}}),
              learn(signal.view(), {.keep = Largest{100}}));
}

TEST_F(LearnGpu, WaitsForWhatIsQueuedInTheStream) {
  const Signal signal = random_signal(ElementType::f32, Shape{360, 640}, 4);
  const OnDevice<std::byte> source(signal.bytes), bytes(signal.bytes.size());
  const OnDevice<std::byte> much(std::size_t{64} << 20);
  const detail::cuda::Queue stream;
  for (int i = 0; i < 40; ++i) detail::cuda::clear(much.get(), std::size_t{64} << 20, stream.get());
  detail::cuda::copy_on_device(bytes.get(), source.get(), signal.bytes.size(), stream.get());
  const DeviceView frame{bytes.get(), signal.type, signal.shape};
  expect_same(learn(frame, {.keep = Largest{200}, .reference = true}, stream.get()),
              learn(signal.view(), {.keep = Largest{200}, .reference = true}));
}

TEST_F(LearnGpu, MethodsForFramesInGpuMemory) {
  const auto sparse = SparseSignal::random(Shape{1 << 16}, false, 7, 11);
  const std::vector<std::complex<double>> samples = sparse.samples();
  const OnDevice<std::complex<double>> there(samples);
  const DeviceView frame{there.get(), ElementType::c128, sparse.shape};
  const Template discovered = learn(frame, {.keep = Largest{7}, .method = LearnOptions::Method::discovery});
  EXPECT_EQ(*detail::data_of(discovered)->support, sparse.support);
  EXPECT_EQ(discovered.learned_by(), LearnOptions::Method::discovery);
  EXPECT_LE(relative_l2(discovered.values(), sparse.values), 1e-9);
  const Template automatic = learn(frame, {.keep = Largest{7}, .method = LearnOptions::Method::automatic});
  EXPECT_EQ(*detail::data_of(automatic)->support, sparse.support);
  EXPECT_EQ(automatic.learned_by(), LearnOptions::Method::dense);
  EXPECT_FALSE(automatic.why_learned_so().empty());
  const Signal noise = random_signal(ElementType::c64, Shape{1 << 16}, 2);
  const OnDevice<std::byte> bytes(noise.bytes);
  EXPECT_EQ(code_of([&] {
              learn(resident(bytes, noise),
                    {.keep = Largest{7}, .method = LearnOptions::Method::discovery, .dense_fallback = false});
            }),
            ErrorCode::not_sparse);
  EXPECT_EQ(learn(resident(bytes, noise), {.keep = Largest{7}, .method = LearnOptions::Method::discovery})
                .learned_by(),
            LearnOptions::Method::dense);
  EXPECT_EQ(code_of([&] {
              learn(resident(bytes, noise), {.keep = Energy{0.5}, .method = LearnOptions::Method::discovery});
            }),
            ErrorCode::invalid_argument);
}

TEST_F(LearnGpu, SmallAndLargeScales) {
  for (const Shape& shape : {Shape{1000}, Shape{48, 50}}) {
    for (const double scale : {1e-145, 1e-120, 1e120, 1e145}) {
      auto samples = random_samples<double>(shape.points(), 8);
      for (double& sample : samples) sample *= scale;
      SCOPED_TRACE(scale);
      const Template gpu = learn(SignalView(samples, shape), {.keep = Largest{100}, .device = Device::gpu()});
      const Template cpu = learn(SignalView(samples, shape), {.keep = Largest{100}});
      EXPECT_EQ(*detail::data_of(gpu)->support, *detail::data_of(cpu)->support);
      EXPECT_LE(relative_l2(gpu.values(), cpu.values()), 16 * transform_bound(shape));
    }
    // Powers beyond the range of double: denormal ones do no harm, infinite ones are refused.
    auto samples = random_samples<double>(shape.points(), 8);
    for (double& sample : samples) sample *= 1e-300;
    EXPECT_EQ(learn(SignalView(samples, shape), {.keep = Largest{100}, .device = Device::gpu()}).k(), 100);
    for (double& sample : samples) sample = sample * 1e300 * 1e170;
    compare(SignalView(samples, shape), {.keep = Largest{100}});
  }
}

}  // namespace
}  // namespace sfft::test::learn_cuda_test
