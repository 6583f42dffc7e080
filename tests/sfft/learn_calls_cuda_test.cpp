// SPDX-License-Identifier: Apache-2.0
// Tests calls of learning on the GPU: what it refuses, repeatability, failed allocations, large signals.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cuda/runtime/runtime.hpp"
#include "sfft/device.hpp"
#include "sfft/template_access.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/learning.hpp"
#include "tests/support/throws.hpp"

namespace sfft::test::learn_calls_cuda_test {
namespace {

class LearnCallsGpu : public GpuTest {};

TEST_F(LearnCallsGpu, RefusesWhatTheCpuRefuses) {
  const Shape shape{24, 10};
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (std::size_t which = 0; which < 3; ++which) {
      std::vector<std::vector<double>> samples;
      std::vector<SignalView> frames;
      for (unsigned t = 0; t < 3; ++t) samples.push_back(random_samples<double>(shape.points(), t));
      samples[which][37] = bad;
      for (const auto& frame : samples) frames.emplace_back(frame, shape);
      SCOPED_TRACE(which);
      EXPECT_EQ(code_of([&] { learn(frames, {.keep = Largest{4}, .device = Device::gpu()}); }),
                ErrorCode::invalid_argument);
      compare(frames, {.keep = Largest{4}});
    }
  }
  const Signal signal = random_signal(ElementType::f32, shape, 1);
  compare(signal.view(), {});
  compare(signal.view(), {.keep = Largest{5000}});
  compare(signal.view(), {.keep = AboveNoise{1e6}});
}

TEST_F(LearnCallsGpu, RefusesADeviceThatIsNotThere) {
  const std::vector<double> x(32, 1.0);
  for (const int device : {-1, 99}) {
    EXPECT_EQ(
        code_of([&] { learn(SignalView::line(x), {.keep = Largest{2}, .device = Device::gpu(device)}); }),
        ErrorCode::backend_unavailable);
  }
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

void expect_same_bits(const Template& actual, const Template& expected) {
  const auto& a = *detail::data_of(actual);
  const auto& b = *detail::data_of(expected);
  EXPECT_EQ(*a.support, *b.support);
  EXPECT_EQ(a.values, b.values);
  EXPECT_TRUE(same_bits(a.power, b.power));
  EXPECT_TRUE(same_bits(a.tail_envelope.power, b.tail_envelope.power));
  EXPECT_TRUE(same_bits(a.change_envelope.power, b.change_envelope.power));
  EXPECT_EQ(actual.tail_energy(), expected.tail_energy());
}

/// Makes each allocation of `learn` fail in turn, until a call succeeds. Each failure is reported, leaves no
/// memory allocated, and does not change what is learned next. Returns the number of failures.
template <class Learn>
int fail_each_allocation(const Learn& learn) {
  namespace cuda = detail::cuda;
  const Template expected = learn();
  const std::int64_t held = cuda::allocated_bytes();
  bool learned = false;
  int failures = 0;
  for (std::int64_t n = 1; !learned && n < 1000; ++n) {
    cuda::fail_allocation(n);
    try {
      learn();
      learned = true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
      ++failures;
    }
    cuda::fail_allocation(0);
    EXPECT_EQ(cuda::allocated_bytes(), held) << "allocation " << n;
    EXPECT_EQ(*detail::data_of(learn())->support, *detail::data_of(expected)->support);
  }
  EXPECT_TRUE(learned);
  return failures;
}

TEST_F(LearnCallsGpu, TheSameFramesGiveTheSameBits) {
  for (const Shape& shape : {Shape{1 << 20}, Shape{99991}, Shape{540, 961}, Shape{40, 50, 60}}) {
    const Signal a = random_signal(ElementType::f32, shape, 1);
    const Signal b = random_signal(ElementType::f32, shape, 2);
    const std::vector<SignalView> frames{a.view(), b.view()};
    const Template first = learn(frames, {.keep = Largest{500}, .device = Device::gpu()});
    for (int repeat = 0; repeat < 5; ++repeat)
      expect_same_bits(learn(frames, {.keep = Largest{500}, .device = Device::gpu()}), first);
  }
}

TEST_F(LearnCallsGpu, EveryFailedAllocationLeavesNothingBehind) {
  const Shape shape{64, 50};
  const Signal a = random_signal(ElementType::u8, shape, 1);
  const Signal b = random_signal(ElementType::u8, shape, 2);
  const std::vector<SignalView> frames{a.view(), b.view()};
  for (const LearnOptions& criterion : {LearnOptions{.keep = Largest{20}}, LearnOptions{.keep = Energy{0.5}},
                                        LearnOptions{.keep = AboveNoise{2}}}) {
    LearnOptions options = criterion;
    options.device = Device::gpu();
    EXPECT_GE(fail_each_allocation([&] { return learn(frames, options); }), 10);
  }
}

TEST_F(LearnCallsGpu, OneFrameGivesTheSameBits) {
  for (const Shape& shape : {Shape{4096}, Shape{540, 961}, Shape{432, 768}, Shape{40, 50, 60}}) {
    const Signal signal = random_signal(ElementType::u8, shape, 1);
    const OnDevice<std::byte> bytes(signal.bytes);
    const Template first = learn(signal.view(), {.keep = Largest{500}, .device = Device::gpu()});
    for (int repeat = 0; repeat < 5; ++repeat)
      expect_same_bits(learn(DeviceView{bytes.get(), signal.type, shape}, {.keep = Largest{500}}), first);
  }
}

TEST_F(LearnCallsGpu, OneFrameRefusesWhatTheCpuRefuses) {
  const Shape shape{24, 10};
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const std::size_t where : {0, 37, 239}) {
      auto samples = random_samples<double>(shape.points(), 3);
      samples[where] = bad;
      EXPECT_EQ(
          code_of([&] { learn(SignalView(samples, shape), {.keep = Largest{4}, .device = Device::gpu()}); }),
          ErrorCode::invalid_argument);
      compare(SignalView(samples, shape), {.keep = Largest{4}});
      const OnDevice<double> there(samples);
      for (const LearnOptions& options :
           {LearnOptions{.keep = Largest{4}}, LearnOptions{.keep = Energy{0.5}}}) {
        EXPECT_EQ(code_of([&] {
                    learn(DeviceView{there.get(), ElementType::f64, shape}, options);
                  }),
                  ErrorCode::invalid_argument);
      }
    }
  }
}

TEST_F(LearnCallsGpu, RefusesFramesThatItCannotRead) {
  const Shape shape{32, 32};
  const std::vector<float> host(1024, 1.0F);
  const OnDevice<float> there(host);
  const DeviceView good{there.get(), ElementType::f32, shape};
  const auto code = [](const DeviceView& frame, const LearnOptions& options, cudaStream_t stream = nullptr) {
    return code_of([&] { learn(frame, options, stream); });
  };
  for (const LearnOptions& options : {LearnOptions{.keep = Largest{2}}, LearnOptions{.keep = Energy{0.5}}}) {
    DeviceView bad = good;
    bad.data = host.data();
    EXPECT_EQ(code(bad, options), ErrorCode::invalid_argument);
    for (const int device : {-1, 99}) {
      bad = good;
      bad.gpu = device;
      EXPECT_EQ(code(bad, options), ErrorCode::backend_unavailable);
    }
    const detail::cuda::Queue stream;
    ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(code(good, options, stream.get()), ErrorCode::invalid_argument);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(code(good, options, stream.get()), std::nullopt);
  }
  EXPECT_EQ(code(good, {}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(good, {.keep = Largest{-1}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(good, {.keep = Largest{1024}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(good, {.keep = Largest{2}, .device = Device::cpu()}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(good, {.keep = Largest{2}, .device = Device::gpu()}), std::nullopt);
}

TEST_F(LearnCallsGpu, OneFrameAllocatesLittleAndFailsCleanly) {
  const Signal signal = random_signal(ElementType::u16, Shape{64, 50}, 1);
  const OnDevice<std::byte> bytes(signal.bytes);
  const DeviceView frame{bytes.get(), signal.type, signal.shape};
  EXPECT_EQ(fail_each_allocation([&] { return learn(frame, {.keep = Largest{20}}); }), 1);
}

TEST(LearnDeviceFrame, RefusesNullAndUnknownTypesEverywhere) {
  EXPECT_EQ(code_of([&] {
              learn(DeviceView{nullptr, ElementType::f32, Shape{64}}, {.keep = Largest{2}});
            }),
            ErrorCode::invalid_argument);
  const float sample = 0;
  EXPECT_EQ(code_of([&] {
              learn(DeviceView{&sample, static_cast<ElementType>(99), Shape{1}}, {.keep = Largest{1}});
            }),
            ErrorCode::invalid_argument);
}

TEST_F(LearnCallsGpu, OffsetsPast31Bits) {
  constexpr std::int64_t kMemory = std::int64_t{100} << 30;
  if (static_cast<std::int64_t>(detail::cuda::device_info(0).memory_bytes) < kMemory)
    GTEST_SKIP() << "needs a GPU with 100 GiB of memory";
  const std::int64_t points = (std::int64_t{1} << 21) * 1025;
  std::vector<std::uint8_t> train(static_cast<std::size_t>(points), 0);
  for (std::size_t i = 0; i < train.size(); i += 5) train[i] = 200;  // X is zero except at multiples of N/5
  const Template tmpl = learn(SignalView::line(train), {.keep = Largest{3}, .device = Device::gpu()});
  EXPECT_EQ(*detail::data_of(tmpl)->support, (std::vector<std::int64_t>{0, points / 5, 2 * (points / 5)}));
  const double peak = 200 * static_cast<double>(points / 5);
  for (const std::complex<double>& value : tmpl.values()) EXPECT_LE(std::abs(value - peak), 1e-11 * peak);
  EXPECT_NEAR(tmpl.energy_captured(), 1, 1e-12);
}

TEST(LearnWithoutGpu, SaysWhy) {
  const std::string problem = detail::cuda::unavailable();
  if (problem.empty()) return;
  const std::vector<double> x(32, 1.0);
  try {
    learn(SignalView::line(x), {.keep = Largest{2}, .device = Device::gpu()});
    FAIL() << "learned without a GPU";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::backend_unavailable);
    EXPECT_EQ(error.what(), problem);
  }
}

}  // namespace
}  // namespace sfft::test::learn_calls_cuda_test
