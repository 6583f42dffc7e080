// SPDX-License-Identifier: Apache-2.0
// Tests calls of dense plans on a GPU: streams, graphs, host memory, choice of the engine, failures.
#include <cstdlib>
#include <thread>

#include "kernels/dense/problem/problem.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"
#include "sfft/dense.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/strided.hpp"
#include "tests/support/throws.hpp"

namespace sfft::test::dense_calls_cuda_test {
namespace {

using dense::Engine;
using dense::Options;
using dense::Plan;
using Planning = dense::Options::Planning;
using C = std::complex<float>;

class DenseCallsCuda : public GpuTest {};

TEST_F(DenseCallsCuda, StreamsOfSeveralThreads) {
  const Shape shape({60, 64});
  constexpr int kThreads = 4, kRepeats = 20;
  for (const Engine engine : gpu_engines()) {
    for (const bool real : {false, true}) {
      const auto plan = plan_if_possible<float>(shape, real, {.engine = engine, .batch = 3});
      if (!plan) continue;
      std::vector<std::thread> threads;
      std::vector<double> errors(kThreads, 1);
      for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
          const auto x =
              as_samples<float>(random_signal(plan->signal_points(), 40 + static_cast<unsigned>(t)));
          const OnDevice<float> input(x);
          const OnDevice<C> output(plan->spectrum_points());
          const Workspace workspace(plan->device_workspace_bytes());
          const detail::cuda::Queue stream;
          for (int i = 0; i < kRepeats; ++i)
            plan->enqueue_forward(input.get(), ElementType::f32, output.get(), workspace.get(), stream.get());
          detail::cuda::synchronize(stream.get());
          errors[static_cast<std::size_t>(t)] = relative_l2(output.read(), expected_spectra(x, shape, real));
        });
      }
      for (std::thread& thread : threads) thread.join();
      for (const double error : errors)
        EXPECT_LE(error, gpu_bound<float>(engine, static_cast<double>(shape.points())))
            << plan->engine_name();
    }
  }
}

TEST_F(DenseCallsCuda, AWorkspaceHasBothPartsOfItsPlan) {
  const Shape shape({96, 480});
  const auto x = as_samples<float>(random_signal(2 * static_cast<std::size_t>(shape.points()), 8));
  for (const Engine engine : gpu_engines()) {
    const auto plan = plan_if_possible<float>(shape, true, {.engine = engine, .batch = 2});
    if (!plan) continue;
    const sfft::Workspace workspace = plan->make_workspace();
    EXPECT_EQ(workspace.host_bytes(), plan->workspace_bytes());
    EXPECT_EQ(workspace.device_bytes(), plan->device_workspace_bytes());
    EXPECT_EQ(workspace.device().size(), plan->device_workspace_bytes());
    const OnDevice<float> input(x);
    const OnDevice<C> output(plan->spectrum_points());
    plan->enqueue_forward(input.get(), ElementType::f32, output.get(), workspace.device(), nullptr);
    EXPECT_LE(relative_l2(output.read(), expected_spectra(x, shape, true)),
              gpu_bound<float>(engine, static_cast<double>(shape.points())));
  }
}

/// Kernels that read at misaligned addresses would end the process's CUDA context.
TEST_F(DenseCallsCuda, RefusesPointersOffTheirAlignment) {
  const Plan<float> plan(Shape(1000), Domain::complex, {.device = Device::gpu()});
  const OnDevice<C> there(2 * plan.signal_points()), spectra(2 * plan.spectrum_points());
  const Workspace workspace(plan.device_workspace_bytes());
  const auto moved = []<class T>(T* pointer, std::size_t bytes) {
    return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(pointer) + bytes);
  };
  for (const std::size_t bytes : {1, 2, 4}) {
    C* const off = moved(there.get(), bytes);
    EXPECT_EQ(code_of([&] {
                plan.enqueue_forward(off, ElementType::c64, spectra.get(), workspace.get(), nullptr);
              }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] {
                plan.enqueue_forward(there.get(), ElementType::c64, moved(spectra.get(), bytes),
                                     workspace.get(), nullptr);
              }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { plan.enqueue_inverse(spectra.get(), off, workspace.get(), nullptr); }),
              ErrorCode::invalid_argument);
  }
  plan.enqueue_forward(there.get() + 1, ElementType::c64, spectra.get() + 1, workspace.get(), nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(DenseCallsCuda, GraphsRepeatForwardAndInverse) {
  for (const Engine engine : gpu_engines()) {
    for (const Shape& shape : {Shape(1000), Shape(1 << 18), Shape({60, 64}), Shape({12, 20, 15})}) {
      const auto plan = plan_if_possible<float>(shape, true, {.engine = engine, .batch = 2});
      if (!plan) continue;
      const auto count = plan->signal_points();
      const OnDevice<std::uint8_t> input(std::vector<std::uint8_t>(count, 0));
      const OnDevice<C> spectra(plan->spectrum_points());
      const OnDevice<float> output(count);
      const Workspace workspace(plan->device_workspace_bytes());
      const detail::cuda::Queue stream;
      const std::int64_t held = detail::cuda::allocated_bytes();
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t executable = nullptr;
      ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
      plan->enqueue_forward(input.get(), ElementType::u8, spectra.get(), workspace.get(), stream.get());
      plan->enqueue_inverse(spectra.get(), output.get(), workspace.get(), stream.get());
      ASSERT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
      ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
      EXPECT_EQ(detail::cuda::allocated_bytes(), held);
      for (unsigned round = 0; round < 3; ++round) {
        std::vector<std::uint8_t> x(count);
        for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<std::uint8_t>(i * (7 + round) % 251);
        ASSERT_EQ(cudaMemcpy(input.get(), x.data(), count, cudaMemcpyHostToDevice), cudaSuccess);
        // A copy from pageable memory may still be in flight, and this stream does not wait for other
        // streams.
        ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        ASSERT_EQ(cudaGraphLaunch(executable, stream.get()), cudaSuccess);
        detail::cuda::synchronize(stream.get());
        EXPECT_LE(relative_l2(output.read(), x),
                  2 * gpu_bound<float>(engine, static_cast<double>(shape.points())))
            << plan->engine_name() << " " << shape.to_string();
      }
      EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
      EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    }
  }
}

/// Covers pageable and page-locked host memory, split batches with a short last part, and strides.
TEST_F(DenseCallsCuda, HostMemoryIsCopiedInParts) {
  const Shape shape({256, 300});
  for (const std::int64_t batch : {1, 5, 100}) {
    const Plan<float> plan(shape, Domain::real, {.engine = Engine::cufft, .batch = batch});
    const Plan<float> reference(shape, Domain::real, {.batch = batch});
    const auto x = as_samples<float>(random_signal(plan.signal_points(), 50));
    std::vector<C> spectra(plan.spectrum_points()), expected(plan.spectrum_points());
    std::vector<float> back(x.size());
    reference.forward(x.data(), ElementType::f32, expected);
    const double bound = 2 * gpu_bound<float>(Engine::cufft, static_cast<double>(shape.points()));
    for (int repeat = 0; repeat < 2; ++repeat) {
      plan.forward(x.data(), ElementType::f32, spectra);
      EXPECT_LE(relative_l2(spectra, expected), bound) << batch;
      plan.inverse(spectra, std::span(back));
      EXPECT_LE(relative_l2(back, x), bound) << batch;
    }
    const detail::cuda::PinnedBuffer locked(x.size() * sizeof(float)), result(spectra.size() * sizeof(C));
    std::copy(x.begin(), x.end(), locked.as<float>());
    const std::span<C> out(result.as<C>(), spectra.size());
    plan.forward(locked.data(), ElementType::f32, out);
    EXPECT_LE(relative_l2(out, expected), bound) << batch;
  }
}

TEST_F(DenseCallsCuda, HostMemoryInStridesAndInPlace) {
  const Shape shape({40, 50});
  for (const auto& [name, strides] : strided_cases(shape, 3)) {
    const Plan<float> plan(shape, Domain::complex,
                           {.engine = Engine::cufft, .batch = 3, .signal_strides = strides});
    const auto packed = as_samples<C>(random_signal(plan.signal_points(), 51));
    const auto x = spread(packed, shape, strides, 3, C(-77));
    std::vector<C> spectra(plan.spectrum_points()), back(x.size(), C(-77));
    plan.forward(x.data(), ElementType::c64, spectra);
    EXPECT_LE(relative_l2(spectra, expected_spectra(packed, shape, false)),
              gpu_bound<float>(Engine::cufft, 2000))
        << name;
    plan.inverse(spectra, std::span(back));
    EXPECT_LE(relative_l2(back, x), 2 * gpu_bound<float>(Engine::cufft, 2000)) << name;
  }
  const Plan<float> plan(shape, Domain::complex, {.engine = Engine::cufft, .batch = 3});
  const auto x = as_samples<C>(random_signal(plan.signal_points(), 52));
  auto values = x;
  plan.forward(values.data(), ElementType::c64, values);
  EXPECT_LE(relative_l2(values, expected_spectra(x, shape, false)), gpu_bound<float>(Engine::cufft, 2000));
  plan.inverse(values, std::span(values));
  EXPECT_LE(relative_l2(values, x), 2 * gpu_bound<float>(Engine::cufft, 2000));
}

TEST_F(DenseCallsCuda, NoMemoryIsAnErrorAndNothingLeaks) {
  const Shape shape({64, 64});
  const std::int64_t held = detail::cuda::allocated_bytes();
  {
    const std::vector<float> x(2 * 64 * 64, 1);
    std::vector<C> spectra(2 * 64 * 33);
    for (std::int64_t n = 1; n <= 3; ++n) {  // memory of the signals, the spectra and the workspace
      const Plan<float> plan(shape, Domain::real, {.engine = Engine::cufft, .batch = 2});
      detail::cuda::fail_allocation(n);
      EXPECT_EQ(code_of([&] { plan.forward(x.data(), ElementType::f32, spectra); }),
                ErrorCode::out_of_memory);
      detail::cuda::fail_allocation(0);
      EXPECT_EQ(code_of([&] { plan.forward(x.data(), ElementType::f32, spectra); }), std::nullopt);
      EXPECT_LE(std::abs(spectra[0] - C(4096)), 1e-2);
    }
  }
  EXPECT_EQ(detail::cuda::allocated_bytes(), held);
}

TEST_F(DenseCallsCuda, CallsThatDoNotFitThePlan) {
  const Shape shape({16, 16});
  const Plan<float> plan(shape, Domain::real, {.engine = Engine::cufft}),
      complex(shape, Domain::complex, {.engine = Engine::cufft});
  const OnDevice<float> signal(256);
  const OnDevice<C> spectrum(256);
  const Workspace memory(plan.device_workspace_bytes() + complex.device_workspace_bytes() + 256);
  const std::span<std::byte> good = memory.get();
  ASSERT_GT(plan.device_workspace_bytes(), 0u);
  const auto forward = [&](const Plan<float>& p, const void* x, ElementType type, C* out,
                           std::span<std::byte> workspace) {
    return code_of([&] { p.enqueue_forward(x, type, out, workspace, nullptr); });
  };
  const auto f32 = ElementType::f32;
  EXPECT_EQ(forward(plan, nullptr, f32, spectrum.get(), good), ErrorCode::invalid_argument);
  EXPECT_EQ(forward(plan, signal.get(), f32, nullptr, good), ErrorCode::invalid_argument);
  EXPECT_EQ(forward(plan, signal.get(), f32, spectrum.get(), {}), ErrorCode::invalid_argument);
  EXPECT_EQ(forward(plan, signal.get(), f32, spectrum.get(), good.first(plan.device_workspace_bytes() - 1)),
            ErrorCode::invalid_argument);
  EXPECT_EQ(forward(plan, signal.get(), f32, spectrum.get(), good.subspan(8)), ErrorCode::invalid_argument);
  EXPECT_EQ(forward(plan, spectrum.get(), ElementType::c64, spectrum.get(), good), ErrorCode::type_mismatch);
  EXPECT_EQ(forward(plan, spectrum.get(), f32, spectrum.get(), good), ErrorCode::invalid_argument);
  EXPECT_EQ(forward(complex, spectrum.get() + 1, ElementType::c64, spectrum.get(), good),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { plan.enqueue_inverse(spectrum.get(), spectrum.get(), good, nullptr); }),
            ErrorCode::type_mismatch);
  EXPECT_EQ(code_of([&] { complex.enqueue_inverse(spectrum.get(), signal.get(), good, nullptr); }),
            ErrorCode::type_mismatch);
  EXPECT_EQ(code_of([&] {
              Plan<float>(shape, Domain::real, {.engine = Engine::cufft, .device = Device::gpu(99)});
            }),
            ErrorCode::backend_unavailable);
  EXPECT_EQ(forward(plan, signal.get(), f32, spectrum.get(), good), std::nullopt);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(DenseCallsCuda, MeasuringTeachesWisdom) {
  dense::forget_wisdom();
  const Shape shape({24, 36});
  const Options automatic{.planning = Planning::estimate, .device = Device::gpu(), .batch = 4};
  const Plan<float> before(shape, Domain::real, automatic);
  EXPECT_EQ(before.engine(), Engine::cufft);
  EXPECT_EQ(before.engine_name().find("cuFFT "), 0u) << before.engine_name();
  EXPECT_EQ(before.reason().find("no wisdom"), 0u) << before.reason();
  Options measuring = automatic;
  measuring.planning = Planning::measure;
  const Plan<float> measured(shape, Domain::real, measuring);
  EXPECT_EQ(measured.reason().find("measured: cufft"), 0u) << measured.reason();
  const Plan<float> after(shape, Domain::real, automatic);
  EXPECT_EQ(after.engine(), measured.engine()) << after.reason();
  EXPECT_EQ(after.reason().find("wisdom: "), 0u) << after.reason();
  dense::forget_wisdom();
}

TEST_F(DenseCallsCuda, CufftMayCompileItsKernels) {
  const Shape shape(5000);
  const Options options{.device = Device::gpu(), .batch = 64};
  dense::forget_wisdom();
  detail::Wisdom::global().add(detail::gpu_platform(0),
                               detail::wisdom_problem<float>(detail::make_problem(shape, false, options)),
                               {"cufft", detail::kCompiledKernels, 1});
  const Plan<float> plan(shape, Domain::complex, options);
  EXPECT_EQ(plan.engine(), Engine::cufft);
  EXPECT_NE(plan.engine_name().find("compiled"), std::string::npos) << plan.engine_name();
  const auto x = as_samples<std::complex<float>>(random_signal(plan.signal_points(), 9));
  EXPECT_LE(relative_l2(forward_on_device(plan, x), expected_spectra(x, shape, false)),
            gpu_bound<float>(Engine::cufft, 5000.0));
  dense::forget_wisdom();
}

TEST_F(DenseCallsCuda, WisdomOfWhatIsMissingFallsBackToCufft) {
  dense::forget_wisdom();
  detail::Wisdom::global().add(detail::gpu_platform(0), {"f32 c2c 96", 1}, {"no such engine", "", 1});
  const Plan<float> plan(Shape(96), Domain::complex, {.device = Device::gpu()});
  EXPECT_EQ(plan.engine(), Engine::cufft);
  EXPECT_EQ(plan.reason().find("wisdom names no such engine"), 0u) << plan.reason();
  dense::forget_wisdom();
}

/// Runs in a separate process, which starts the test program again, because NVRTC is looked for only once.
void plan_without_nvrtc() {
  setenv("SFFT_NVRTC", "/nonexistent/libnvrtc.so", 1);
  const auto refused = [](Engine engine) {
    return code_of([&] { Plan<float>(Shape(96), Domain::complex, {.engine = engine}); }) ==
           ErrorCode::backend_unavailable;
  };
  detail::Wisdom::global().add(detail::gpu_platform(0), {"f32 c2c 96", 1}, {"tuned", "", 1});
  const Plan<float> plan(Shape(96), Domain::complex, {.device = Device::gpu()});
  const bool fell_back = plan.engine() == Engine::cufft && plan.reason().find("wisdom names tuned") == 0;
  std::exit(refused(Engine::vkfft) && refused(Engine::tuned) && fell_back ? 0 : 1);
}

TEST_F(DenseCallsCuda, WithoutNvrtcPlansUseCufft) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(plan_without_nvrtc(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sfft::test::dense_calls_cuda_test
