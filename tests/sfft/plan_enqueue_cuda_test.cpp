// SPDX-License-Identifier: Apache-2.0
// Tests plans on frames in GPU memory: streams, graphs, offsets beyond 2^31, and calls that do not fit.
#include <cmath>
#include <numbers>

#include "bench/known_signals.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test::plan_enqueue_cuda_test {
namespace {

class PlanEnqueueCuda : public GpuTest {};

/// The results of `count` frames in device memory.
template <class Real>
struct Results {
  std::size_t k, count;
  OnDevice<std::complex<Real>> values;
  OnDevice<Real> errors;
  OnDevice<Quality> estimates;
  Results(std::size_t coefficients, std::size_t frames)
      : k(coefficients), count(frames), values(k * count), errors(k * count), estimates(count) {}
  typename Plan<Real>::DeviceSpectra view() const { return {values.get(), errors.get(), estimates.get()}; }
};

/// Calls enqueue() for many frames, from two streams on one plan, and captured into a graph. Results are the
/// same bit for bit.
template <class Real>
void check_enqueue(Path path) {
  const Shape shape{path == Path::flat_window ? 32771 : 32768};
  constexpr std::size_t kFrames = 5;
  const auto points = static_cast<std::size_t>(shape.points());
  const auto signal = SparseSignal::random(shape, false, 24, 8);
  const auto x = signal.as<std::complex<Real>>();
  std::vector<std::complex<Real>> frames;
  for (std::size_t i = 0; i < kFrames; ++i) {
    for (const auto& z : x) frames.push_back(z * static_cast<Real>(i + 1));
    frames.resize(frames.size() + 7);  // a pitch larger than the frame
  }
  const Plan<Real> plan(Template::from_support(shape, Domain::complex, signal.support),
                        {.device = Device::gpu(), .path = path});
  const OnDevice<std::complex<Real>> there(frames);
  const DeviceView view{there.get(), element_type_of<std::complex<Real>>::value, shape, kFrames,
                        static_cast<std::int64_t>(points + 7)};
  cudaStream_t streams[2];
  for (auto& stream : streams) ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  Workspace workspaces[2] = {plan.make_workspace(), plan.make_workspace()};
  const Results<Real> results[2] = {{24, kFrames}, {24, kFrames}};
  for (int repeat = 0; repeat < 20; ++repeat) {
    for (int s = 0; s < 2; ++s) plan.enqueue(view, results[s].view(), workspaces[s], streams[s]);
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const auto values = results[0].values.read();
  EXPECT_EQ(values, results[1].values.read());
  EXPECT_EQ(results[0].errors.read(), results[1].errors.read());
  for (std::size_t i = 0; i < kFrames; ++i) {
    std::vector<std::complex<double>> mine;
    for (std::size_t j = 0; j < 24; ++j)
      mine.push_back(std::complex<double>(values[i * 24 + j]) / static_cast<double>(i + 1));
    EXPECT_LE(relative_l2(mine, signal.values), plan_bound<Real>(shape)) << to_string(path);
  }
  for (const Quality& estimate : results[0].estimates.read()) {
    EXPECT_EQ(estimate.finite, 1);
    EXPECT_LE(estimate.relative_error, 100 * plan_bound<Real>(shape));
  }

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  const Results<Real> captured(24, kFrames);
  ASSERT_EQ(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal), cudaSuccess);
  plan.enqueue(view, captured.view(), workspaces[0], streams[0]);
  ASSERT_EQ(cudaStreamEndCapture(streams[0], &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  for (int repeat = 0; repeat < 3; ++repeat) ASSERT_EQ(cudaGraphLaunch(executable, streams[0]), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(streams[0]), cudaSuccess);
  EXPECT_EQ(captured.values.read(), values);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  for (auto& stream : streams) cudaStreamDestroy(stream);
}

TEST_F(PlanEnqueueCuda, EnqueuesOnStreamsAndIntoGraphs) {
  for (const Path path : {Path::comb, Path::flat_window, Path::dense}) {
    check_enqueue<float>(path);
    check_enqueue<double>(path);
  }
}

TEST_F(PlanEnqueueCuda, CompiledPlansTakeFramesOfEveryType) {
  const Shape shape{432, 768};
  const auto signal = SparseSignal::random(shape, true, 200, 8);
  const Template tmpl = Template::from_support(shape, Domain::real, signal.support);
  const Plan<float> plan(tmpl, {.device = Device::gpu(), .compiled_for = ElementType::f32});
  EXPECT_EQ(plan.info().engine.find(", compiled for this plan") != std::string::npos,
            detail::cuda::device_info(0).largest_cluster > 1)
      << plan.info().engine;
  auto workspace = plan.make_workspace();
  const OnDevice<float> floats(signal.as<float>());
  const OnDevice<double> doubles(signal.as<double>());
  const std::pair<const void*, ElementType> frames[] = {{floats.get(), ElementType::f32},
                                                        {doubles.get(), ElementType::f64}};
  for (const auto& [data, type] : frames) {
    const Results<float> results(200, 1);
    plan.enqueue({data, type, plan.shape(), 1}, results.view(), workspace, nullptr);
    plan.enqueue({data, type, plan.shape(), 0}, results.view(), workspace, nullptr);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_LE(relative_l2(results.values.read(), signal.values), plan_bound<float>(shape)) << to_string(type);
    EXPECT_LE(results.estimates.read()[0].relative_error, 100 * plan_bound<float>(shape));
  }
  Spectrum<float> spectrum = plan.make_spectrum();
  const auto frame = signal.as<float>();
  plan.execute(SignalView(frame, shape), spectrum, workspace);
  EXPECT_LE(relative_l2(spectrum.values, signal.values), plan_bound<float>(shape));
}

TEST_F(PlanEnqueueCuda, ReadsPastTwoToThe31) {
  const std::int64_t n = (std::int64_t{1} << 31) + (std::int64_t{1} << 29);
  if (detail::cuda::device_info(0).memory_bytes < (std::size_t{30} << 30))
    GTEST_SKIP() << "needs 21 GB of memory";
  // One tone, sampled only where the plan reads; the rest stays poisoned.
  const std::vector<std::int64_t> support{5, n / 3, n - 77};
  const Plan<float> plan(Template::from_support(Shape{n}, Domain::complex, support),
                         {.device = Device::gpu()});
  ASSERT_EQ(plan.info().path, Path::comb) << plan.explain();
  const OnDevice<std::complex<float>> there(static_cast<std::size_t>(n));
  // Making the whole period on the host in blocks of 2^20 is slow, so frames are tones of short period.
  const std::int64_t f = n / 3 == support[1] ? support[1] : 0;
  std::vector<std::complex<float>> block(1 << 22);
  for (std::int64_t start = 0; start < n; start += static_cast<std::int64_t>(block.size())) {
    const auto count = std::min<std::int64_t>(static_cast<std::int64_t>(block.size()), n - start);
    // exp(2πi f t / n) by rotation within the block, restarted exactly at its beginning.
    const auto turn = [&](std::int64_t t) {
      const long double a =
          2 * std::numbers::pi_v<long double> *
          static_cast<long double>(static_cast<std::int64_t>(static_cast<__int128>(f) * t % n)) /
          static_cast<long double>(n);
      return std::complex<double>(static_cast<double>(std::cos(a)), static_cast<double>(std::sin(a)));
    };
    std::complex<double> z = turn(start);
    const std::complex<double> step = turn(1);
    for (std::int64_t i = 0; i < count; ++i, z *= step)
      block[static_cast<std::size_t>(i)] = std::complex<float>(z);
    ASSERT_EQ(cudaMemcpy(there.get() + start, block.data(), static_cast<std::size_t>(count) * sizeof block[0],
                         cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  auto workspace = plan.make_workspace();
  const Results<float> results(3, 1);
  plan.enqueue({there.get(), ElementType::c64, plan.shape(), 1}, results.view(), workspace, nullptr);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const std::vector<std::complex<double>> truth{0, static_cast<double>(n), 0};
  EXPECT_LE(relative_l2(results.values.read(), truth), 1e-5);
}

TEST_F(PlanEnqueueCuda, RefusesWhatDoesNotFit) {
  const Shape shape{4096};
  const auto signal = SparseSignal::random(shape, false, 8, 3);
  const Template tmpl = Template::from_support(shape, Domain::complex, signal.support);
  const Plan<float> plan(tmpl, {.device = Device::gpu()});
  const Plan<float> other(tmpl, {.device = Device::gpu(), .seed = 2});
  const Plan<float> host(tmpl);
  const OnDevice<std::complex<float>> there(4096);
  const Results<float> results(8, 1);
  auto workspace = plan.make_workspace();
  auto wrong = other.make_workspace();
  auto host_workspace = host.make_workspace();
  const DeviceView good{there.get(), ElementType::c64, shape, 1};
  const auto enqueue = [&](const Plan<float>& with, DeviceView frames, Workspace& own) {
    return code_of([&] { with.enqueue(frames, results.view(), own, nullptr); });
  };
  EXPECT_EQ(enqueue(plan, good, wrong), ErrorCode::invalid_argument);
  EXPECT_EQ(enqueue(host, good, host_workspace), ErrorCode::backend_unavailable);
  EXPECT_EQ(enqueue(plan, {there.get(), ElementType::f32, shape, 1}, workspace), ErrorCode::type_mismatch);
  EXPECT_EQ(enqueue(plan, {there.get(), ElementType::c64, shape, -1}, workspace),
            ErrorCode::invalid_argument);
  EXPECT_EQ(enqueue(plan, {there.get(), ElementType::c64, shape, 2, 100}, workspace),
            ErrorCode::invalid_argument);
  EXPECT_EQ(enqueue(plan, {there.get(), ElementType::c64, Shape{2048}, 1}, workspace),
            ErrorCode::shape_mismatch);
  DeviceView elsewhere = good;
  elsewhere.gpu = 1;
  EXPECT_EQ(enqueue(plan, elsewhere, workspace), ErrorCode::invalid_argument);
  EXPECT_EQ(enqueue(plan, {nullptr, ElementType::c64, shape, 1}, workspace), ErrorCode::invalid_argument);
  EXPECT_EQ(enqueue(plan, {there.get(), ElementType::c64, shape, 0}, workspace), std::nullopt);
  EXPECT_EQ(enqueue(plan, {there.get(), static_cast<ElementType>(99), shape, 1}, workspace),
            ErrorCode::invalid_argument);
  // Misaligned accesses would end the CUDA context.
  for (const std::size_t bytes : {1, 2, 4}) {
    const void* const off = reinterpret_cast<const std::byte*>(there.get()) + bytes;
    EXPECT_EQ(enqueue(plan, {off, ElementType::c64, shape, 1}, workspace), ErrorCode::invalid_argument)
        << bytes;
    Plan<float>::DeviceSpectra bad = results.view();
    bad.values = reinterpret_cast<std::complex<float>*>(reinterpret_cast<std::byte*>(bad.values) + bytes);
    EXPECT_EQ(code_of([&] { plan.enqueue(good, bad, workspace, nullptr); }), ErrorCode::invalid_argument);
  }
  EXPECT_EQ(enqueue(plan, good, workspace), std::nullopt);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(code_of([&] { Plan<float>(tmpl, {.device = Device::gpu(99)}); }), ErrorCode::backend_unavailable);
}

}  // namespace
}  // namespace sfft::test::plan_enqueue_cuda_test
