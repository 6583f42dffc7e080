// SPDX-License-Identifier: Apache-2.0
// Tests selective dense plans on a GPU: the output hook of the tuned kernels, and selection from other
// engines' spectra.
#include <limits>

#include "sfft/dense_selective.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/selective.hpp"
#include "tests/support/strided.hpp"
#include "tests/support/throws.hpp"

namespace sfft::test::dense_selective_cuda_test {
namespace {

using dense::Engine;
using dense::Options;
using dense::SelectivePlan;

class DenseSelectiveCuda : public GpuTest {};

TEST_F(DenseSelectiveCuda, KeepsWhatSumsSay) {
  for (const Engine engine : gpu_engines()) {
    if (engine == Engine::vkfft) continue;  // its errors in float exceed the tests' gaps
    const Options options{.engine = engine};
    expect_selects<float>(Shape({36, 40}), 3, options);
    expect_selects<float>(Shape({15, 21}), 2, options);
    expect_selects<double>(Shape({16, 18}), 2, options);
    expect_selects<std::uint8_t>(Shape({24, 64}), 3, options);
    expect_selects<std::uint16_t>(Shape({20, 30}), 2, options);
    expect_selects<float>(Shape(250), 5, options);
    expect_selects<std::complex<float>>(Shape(127), 7, options);
    expect_selects<std::complex<float>>(Shape({12, 14}), 2, options);
    expect_selects<std::complex<double>>(Shape({8, 9, 10}), 2, options);
    expect_selects<float>(Shape({6, 10, 12}), 2, options);
  }
}

TEST_F(DenseSelectiveCuda, BandsAreSupports) {
  const auto x = as_samples<float>(random_signal(3000, 5));
  std::vector<std::int64_t> support;
  for (std::int64_t f = 100; f < 150; ++f) support.push_back(f);
  for (const Engine engine : gpu_engines()) {
    const Options options{.engine = engine, .batch = 3};
    std::vector<std::complex<float>> at(150), band(150);
    SelectivePlan<float>::at(Shape(1000), Domain::real, support, options)
        .forward_at(x.data(), ElementType::f32, at);
    SelectivePlan<float>::band(Shape(1000), Domain::real, -900, 50, options)
        .forward_at(x.data(), ElementType::f32, band);
    EXPECT_EQ(at, band);
  }
}

TEST_F(DenseSelectiveCuda, LongLinesByOneTransformAfterTheOther) {
  // Direct sums of these lengths take too long, so the reference is the CPU's engine, which other tests
  // compare with direct sums.
  constexpr std::int64_t kPoints = 1 << 16, kBatch = 2;
  const auto x = as_samples<std::complex<float>>(random_signal(kBatch * kPoints, 4));
  const dense::Plan<double> exact(Shape(kPoints), Domain::complex,
                                  {.engine = Engine::built_in, .batch = kBatch});
  std::vector<std::complex<double>> spectra(exact.spectrum_points());
  exact.forward(x.data(), ElementType::c64, spectra);
  std::vector<std::int64_t> support;
  for (std::int64_t element = 5; element < kPoints; element += 97) support.push_back(element);
  for (const Engine engine : gpu_engines()) {
    const auto plan = SelectivePlan<float>::at(Shape(kPoints), Domain::complex, support,
                                               {.engine = engine, .batch = kBatch});
    EXPECT_EQ(plan.stores_spectrum(), engine != Engine::tuned);
    std::vector<std::complex<float>> values(support.size() * kBatch);
    plan.forward_at(x.data(), ElementType::c64, values);
    std::vector<std::complex<double>> expected;
    for (std::int64_t b = 0; b < kBatch; ++b) {
      for (const std::int64_t element : support)
        expected.push_back(spectra[static_cast<std::size_t>(b * kPoints + element)]);
    }
    EXPECT_LE(relative_l2(values, expected), gpu_bound<float>(engine, kPoints)) << plan.engine_name();
  }
}

TEST_F(DenseSelectiveCuda, MoreThanTheCapacityIsCountedAndNotWritten) {
  const SelectiveCase<float> c(Shape({32, 32}), 2);
  const OnDevice<float> input(c.samples);
  for (const Engine engine : gpu_engines()) {
    const auto plan =
        SelectivePlan<float>::above(Shape({32, 32}), Domain::real, {.engine = engine, .batch = 2});
    const Workspace workspace(plan.device_workspace_bytes());
    constexpr std::int64_t kCapacity = 10;
    const OnDevice<std::int64_t> indices(kCapacity + 1);
    const OnDevice<std::complex<float>> values(kCapacity + 1);
    const OnDevice<std::uint64_t> count(1);
    plan.enqueue_above(input.get(), ElementType::f32, 0,
                       {indices.get(), values.get(), count.get(), kCapacity}, workspace.get(), nullptr);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(count.read()[0], c.spectra.size());
    EXPECT_EQ(indices.read()[kCapacity], -1) << "behind the capacity";
    for (std::int64_t i = 0; i < kCapacity; ++i) {
      const std::int64_t index = indices.read()[static_cast<std::size_t>(i)];
      ASSERT_GE(index, 0);
      ASSERT_LT(index, static_cast<std::int64_t>(c.spectra.size()));
      const std::complex<double> x = values.read()[static_cast<std::size_t>(i)];
      EXPECT_LE(std::abs(x - c.spectra[static_cast<std::size_t>(index)]), 10 * c.tolerance());
    }
  }
}

TEST_F(DenseSelectiveCuda, GraphsRepeat) {
  const SelectiveCase<float> c(Shape({32, 48}), 2);
  const OnDevice<float> input(c.samples);
  const auto support = c.support();
  for (const Engine engine : gpu_engines()) {
    if (engine == Engine::vkfft) continue;
    const auto plan =
        SelectivePlan<float>::at(Shape({32, 48}), Domain::real, support, {.engine = engine, .batch = 2});
    const Workspace workspace(plan.device_workspace_bytes());
    const OnDevice<std::complex<float>> values(2 * support.size());
    const detail::cuda::Queue stream;
    cudaGraph_t graph{};
    cudaGraphExec_t executable{};
    ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
    plan.enqueue_at(input.get(), ElementType::f32, values.get(), workspace.get(), stream.get());
    ASSERT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    for (int i = 0; i < 2; ++i) ASSERT_EQ(cudaGraphLaunch(executable, stream.get()), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
    c.expect_at(values.read(), support);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  }
}

TEST_F(DenseSelectiveCuda, CallsThatDoNotFitAreRefused) {
  const std::vector<std::int64_t> support{1, 2};
  const auto at = SelectivePlan<float>::at(Shape(64), Domain::real, support, {.engine = Engine::cufft});
  const auto above = SelectivePlan<float>::above(Shape(64), Domain::real, {.engine = Engine::cufft});
  const OnDevice<float> x(65);
  const OnDevice<std::complex<float>> values(2);
  const OnDevice<std::uint64_t> count(1);
  const Workspace workspace(std::max(at.device_workspace_bytes(), above.device_workspace_bytes()));
  const auto f32 = ElementType::f32;
  const auto enqueue = [&](const float* from, std::complex<float>* to, std::span<std::byte> work) {
    return code_of([&] { at.enqueue_at(from, f32, to, work, nullptr); });
  };
  EXPECT_EQ(enqueue(x.get() + 1, values.get(), workspace.get()), ErrorCode::invalid_argument);
  EXPECT_EQ(enqueue(nullptr, values.get(), workspace.get()), ErrorCode::invalid_argument);
  EXPECT_EQ(enqueue(x.get(), nullptr, workspace.get()), ErrorCode::invalid_argument);
  EXPECT_EQ(enqueue(x.get(), values.get(), {}), ErrorCode::invalid_argument);
  EXPECT_EQ(enqueue(x.get(), values.get(), workspace.get().subspan(8)), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { above.enqueue_above(x.get(), f32, 1, {}, workspace.get(), nullptr); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(
      code_of([&] {
        above.enqueue_above(x.get(), f32, -1, {nullptr, nullptr, count.get(), 0}, workspace.get(), nullptr);
      }),
      ErrorCode::invalid_argument);
  EXPECT_EQ(enqueue(x.get(), values.get(), workspace.get()), std::nullopt);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

}  // namespace
}  // namespace sfft::test::dense_selective_cuda_test
