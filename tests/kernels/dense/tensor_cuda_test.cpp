// SPDX-License-Identifier: Apache-2.0
// Tests the engine tensor on a GPU: splits and roots bit by bit against the host's, and transforms against
// double and against the emulation. Covers batches, in-place calls, unaligned arrays, special values, and
// refusals.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/cuda/tensor/tensor_transform.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/tensor_checks.hpp"
#include "tests/support/throws.hpp"

namespace sfft::test::tensor_cuda_test {
namespace {

using dense::Engine;

class TensorCuda : public GpuTest {};

dense::Options options(Engine engine, std::size_t batch) {
  return {.engine = engine,
          .normalization = dense::Options::Normalization::none,
          .device = Device::gpu(),
          .batch = static_cast<std::int64_t>(batch)};
}

/// Computed on the GPU, because some transforms are large.
Exact exact_spectra(const Values& signals, std::size_t n) {
  const dense::Plan<double> plan(Shape{static_cast<std::int64_t>(n)}, Domain::complex,
                                 options(Engine::cufft, signals.size() / n));
  return forward_on_device(plan, Exact(signals.begin(), signals.end()));
}

dense::Plan<float> tensor_plan(std::size_t n, std::size_t batch) {
  return dense::Plan<float>(Shape{static_cast<std::int64_t>(n)}, Domain::complex,
                            options(Engine::tensor, batch));
}

TEST_F(TensorCuda, SplitIsThatOfTheHost) {
  std::vector<tensor::Point> points;
  std::mt19937 random(1);
  for (unsigned exponent = 0; exponent < 127 + 15; ++exponent) {
    for (int i = 0; i < 2000; ++i) {
      const auto value = [&] {
        return detail::half::from_bits(static_cast<unsigned>(random()) % 2 << 31 | exponent << 23 |
                                       static_cast<unsigned>(random()) % 0x800000u);
      };
      points.push_back({value(), value()});
    }
  }
  std::vector<tensor::SplitPoint> expected;
  for (const tensor::Point& point : points) expected.push_back(tensor::split(point));
  const OnDevice<tensor::Point> from(points);
  const OnDevice<tensor::SplitPoint> to(points.size());
  detail::cuda::launch_tensor_split(from.get(), to.get(), static_cast<std::int64_t>(points.size()), nullptr);
  EXPECT_TRUE(same_bits(to.read(), expected));
}

TEST_F(TensorCuda, RootsAreThoseOfTheHost) {
  for (int log = 3; log <= tensor::kMaxLongLog; ++log) {
    const std::size_t count = std::size_t{1} << log;
    std::vector<tensor::Point> expected;
    for (std::size_t i = 0; i < count; ++i)
      expected.push_back(tensor::root_of(static_cast<unsigned>(i), log, 1));
    const OnDevice<tensor::Point> to(count);
    detail::cuda::launch_tensor_roots(log, 1, to.get(), static_cast<std::int64_t>(count), nullptr);
    EXPECT_TRUE(same_bits(to.read(), expected)) << log;
  }
}

/// For an impulse every sum has only the few addends of its three products, and rounds in the last place.
TEST_F(TensorCuda, ProductsAreThoseOfTheEmulation) {
  constexpr std::size_t kVectors = 32;
  for (const int log : {5, 13}) {
    Values x(std::size_t{kVectors} << log);
    std::mt19937 random(7);
    for (std::size_t vector = 0; vector < kVectors; ++vector)
      x[(vector << log) + random() % (1u << log)] = {static_cast<float>(random() % 15) - 7, 1};
    const Values got = forward_on_device(tensor_plan(std::size_t{1} << log, kVectors), x);
    EXPECT_LE(relative_l2(got, emulated_tensor_fft(x, log)), 1e-7) << log;
  }
}

TEST_F(TensorCuda, EveryPowerOfTwoAgainstDoubleAndEmulation) {
  for (int log = tensor::kMinLog; log <= tensor::kMaxLongLog; ++log) {
    if (!tensor::has_passes(log, 1)) continue;
    const std::size_t n = std::size_t{1} << log, batch = log <= 13 ? 1 + (std::size_t{5000} >> log) : 3;
    const Values x = uniform_noise(n * batch, static_cast<unsigned>(log));
    const Values got = forward_on_device(tensor_plan(n, batch), x);
    EXPECT_LE(relative_l2(got, exact_spectra(x, n)), kTensorBound) << "2^" << log;
    EXPECT_LE(relative_l2(got, emulated_tensor_fft(x, log)), kTensorBound) << "2^" << log;
  }
}

/// There are enough lines for large tiles, and the last tile is not full.
TEST_F(TensorCuda, ManyLines) {
  for (int log = tensor::kMinLog; log <= tensor::kMaxShortLog; ++log) {
    const std::size_t n = std::size_t{1} << log,
                      batch = 1 + (static_cast<std::size_t>(tensor::kFewPoints) >> log);
    const Values x = uniform_noise(n * batch, static_cast<unsigned>(log));
    EXPECT_LE(relative_l2(forward_on_device(tensor_plan(n, batch), x), exact_spectra(x, n)), kTensorBound)
        << "2^" << log;
  }
}

TEST_F(TensorCuda, InversesAndNormalization) {
  for (const int log : {1, 2, 3, 4, 5, 13, 14, 15}) {
    const std::size_t n = std::size_t{1} << log;
    dense::Options asked = options(Engine::tensor, 2);
    asked.normalization = dense::Options::Normalization::unitary;
    const dense::Plan<float> plan(Shape{static_cast<std::int64_t>(n)}, Domain::complex, asked);
    const Values x = uniform_noise(2 * n, 3), there = forward_on_device(plan, x);
    EXPECT_LE(relative_l2(inverse_on_device<std::complex<float>, float>(plan, there, Values(2 * n)), x),
              2 * kTensorBound)
        << "2^" << log;
  }
}

TEST_F(TensorCuda, InPlaceAndUnaligned) {
  for (const int log : {1, 2, 3, 4, 5, 13, 14, 15}) {
    const std::size_t n = std::size_t{1} << log, batch = log < 4    ? 5
                                                         : log < 13 ? (std::size_t{1} << 20 >> log) + 1
                                                                    : 3;
    const Values x = uniform_noise(n * batch, 8);
    const dense::Plan<float> plan = tensor_plan(n, batch);
    const Values expected = forward_on_device(plan, x);
    Values shifted(1);
    shifted.insert(shifted.end(), x.begin(), x.end());
    const OnDevice<std::complex<float>> memory(shifted);
    const Workspace workspace(plan.device_workspace_bytes());
    plan.enqueue_forward(memory.get() + 1, ElementType::c64, memory.get() + 1, workspace.get(), nullptr);
    const Values got = memory.read();
    EXPECT_TRUE(same_bits(Values(got.begin() + 1, got.end()), expected)) << "2^" << log;
  }
}

TEST_F(TensorCuda, EveryVectorHasItsScale) {
  for (const int log : {1, 2, 3, 4, 5, 13, 14}) {
    const std::size_t n = std::size_t{1} << log;
    expect_scales_of_lines(static_cast<std::int64_t>(n), [&](const Values& x) {
      return forward_on_device(tensor_plan(n, x.size() / n), x);
    });
  }
}

TEST_F(TensorCuda, NanAndInfinityStayInTheirVector) {
  for (const std::size_t n : {2, 4, 8, 32, 8192}) {
    expect_others_without_trouble(static_cast<std::int64_t>(n), [&](const Values& x) {
      return forward_on_device(tensor_plan(n, x.size() / n), x);
    });
  }
}

TEST_F(TensorCuda, WhatItDoesNotDoIsRefused) {
  const auto refused = [](const Shape& shape, bool real, std::size_t batch = 1) {
    EXPECT_EQ(code_of([&] {
                dense::Plan<float>(shape, real ? Domain::real : Domain::complex,
                                   options(Engine::tensor, batch));
              }),
              ErrorCode::backend_unavailable)
        << shape.to_string();
  };
  for (const std::int64_t points : {1, 3, 43, 49, 64, 100, 127, 229, 251, 1000, 4096, 65536, 1 << 25})
    refused(Shape{points}, false);
  refused(Shape{16384}, false, 32);
  refused(Shape{16}, true);
  refused(Shape({16, 16}), false);
  refused(Shape({16, 32, 32}), false);
  EXPECT_EQ(code_of([&] { dense::Plan<double>(Shape{16}, Domain::complex, options(Engine::tensor, 1)); }),
            ErrorCode::backend_unavailable);
}

/// Earlier versions had more lengths, and their wisdom may name them.
TEST_F(TensorCuda, WisdomForALengthThatItLacksIsIgnored) {
  const Shape shape{256};
  dense::forget_wisdom();
  detail::Wisdom::global().add(
      detail::gpu_platform(0),
      detail::wisdom_problem<float>(detail::make_problem(shape, false, options(Engine::automatic, 100))),
      {"tensor", "", 1});
  for (const auto planning : {dense::Options::Planning::estimate, dense::Options::Planning::quick}) {
    dense::Options asked = options(Engine::automatic, 100);
    asked.planning = planning;
    const dense::Plan<float> plan(shape, Domain::complex, asked);
    EXPECT_EQ(plan.engine(), Engine::cufft);
    EXPECT_EQ(plan.reason().find("wisdom names tensor, but the engine tensor takes lines of"), 0u)
        << plan.reason();
  }
  dense::forget_wisdom();
}

TEST_F(TensorCuda, HostMemory) {
  const std::size_t n = 32, batch = 3000;
  const Values x = uniform_noise(n * batch, 2);
  Values got(x.size());
  tensor_plan(n, batch).forward(x.data(), ElementType::c64, got);
  EXPECT_LE(relative_l2(got, exact_spectra(x, n)), kTensorBound);
}

TEST_F(TensorCuda, OtherTypesAndStridesAreConverted) {
  const std::size_t n = 8192;
  const Values x = uniform_noise(2 * n, 4);
  const Exact expected = exact_spectra(x, n);
  EXPECT_LE(relative_l2(forward_on_device(tensor_plan(n, 2), Exact(x.begin(), x.end())), expected),
            kTensorBound);
  dense::Options strided = options(Engine::tensor, 2);
  strided.signal_strides = {{2, 0, 0}, 1};  // the elements of two signals alternate
  Values mixed(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    mixed[2 * i] = x[i];
    mixed[2 * i + 1] = x[n + i];
  }
  const dense::Plan<float> plan(Shape{static_cast<std::int64_t>(n)}, Domain::complex, strided);
  const Values got = forward_on_device(plan, mixed);
  EXPECT_LE(relative_l2(got, expected), kTensorBound);
  Values back = inverse_on_device<std::complex<float>, float>(plan, got, Values(2 * n));
  for (auto& value : back) value /= static_cast<float>(n);
  EXPECT_LE(relative_l2(back, mixed), 2 * kTensorBound);
}

TEST_F(TensorCuda, GraphsRepeatSeveralPasses) {
  for (const int log : {5, 15}) {
    const std::size_t n = std::size_t{1} << log;
    const dense::Plan<float> plan = tensor_plan(n, 1);
    const OnDevice<std::complex<float>> input(n), output(n);
    const Workspace workspace(plan.device_workspace_bytes());
    const detail::cuda::Queue stream;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
    // Forward, and from the output back to the input.
    plan.enqueue_forward(input.get(), ElementType::c64, output.get(), workspace.get(), stream.get());
    plan.enqueue_inverse(output.get(), input.get(), workspace.get(), stream.get());
    ASSERT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    for (unsigned round = 0; round < 3; ++round) {
      Values x = uniform_noise(n, round);
      ASSERT_EQ(
          cudaMemcpyAsync(input.get(), x.data(), n * sizeof(x[0]), cudaMemcpyHostToDevice, stream.get()),
          cudaSuccess);
      ASSERT_EQ(cudaGraphLaunch(executable, stream.get()), cudaSuccess);
      ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
      EXPECT_LE(relative_l2(output.read(), exact_spectra(x, n)), kTensorBound) << log;
      for (auto& value : x) value *= static_cast<float>(n);
      EXPECT_LE(relative_l2(input.read(), x), 2 * kTensorBound) << log;
    }
    EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }
}

}  // namespace
}  // namespace sfft::test::tensor_cuda_test
