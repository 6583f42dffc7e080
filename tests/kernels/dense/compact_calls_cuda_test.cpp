// SPDX-License-Identifier: Apache-2.0
// Tests calls of compact plans on a GPU: capture into a graph, and refusals.
#include <cmath>
#include <optional>

#include "tests/support/compact.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/throws.hpp"

namespace sfft::test::compact_calls_cuda_test {
namespace {

using dense::CompactPlan;
using dense::Engine;
using dense::Storage;
using detail::Direction;

class CompactCallsCuda : public GpuTest {};

TEST_F(CompactCallsCuda, CallsCanBeCaptured) {
  for (const Engine engine : gpu_engines()) {
    const dense::Options options{.engine = engine, .device = Device::gpu(), .batch = 4};
    const CompactPlan plan(Shape(480), Domain::complex, options);
    const CompactArray signal = stored(parts_of(random_signal(4 * 480, 2), false), 4, Storage::f16);
    const std::vector<std::byte> expected = on_device(plan, Direction::forward, signal.bytes);
    const OnDevice<std::byte> input(signal.bytes), output(plan.spectrum_bytes());
    const Workspace workspace(plan.device_workspace_bytes());
    const detail::cuda::Queue stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
    plan.enqueue_forward(input.get(), output.get(), workspace.get(), stream.get());
    ASSERT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(executable, stream.get()), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
    EXPECT_EQ(output.read(), expected);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  }
}

TEST_F(CompactCallsCuda, BadArgumentsAreRefused) {
  const dense::Options options{.engine = Engine::cufft, .device = Device::gpu()};
  const CompactPlan plan(Shape(64), Domain::complex, options);
  const OnDevice<std::byte> input(plan.signal_bytes() + 4), output(plan.spectrum_bytes());
  const Workspace workspace(plan.device_workspace_bytes());
  const auto code = [&](const void* from, void* to, std::span<std::byte> scratch) {
    return code_of([&] { plan.enqueue_forward(from, to, scratch, nullptr); });
  };
  EXPECT_EQ(code(input.get(), output.get(), workspace.get()), std::nullopt);
  EXPECT_EQ(code(nullptr, output.get(), workspace.get()), ErrorCode::invalid_argument);
  EXPECT_EQ(code(input.get(), input.get(), workspace.get()), ErrorCode::invalid_argument);
  EXPECT_EQ(code(input.get() + 2, output.get(), workspace.get()), ErrorCode::invalid_argument);
  EXPECT_EQ(code(input.get(), output.get(), {}), ErrorCode::invalid_argument);
  std::vector<std::byte> host(plan.signal_bytes()), result(plan.spectrum_bytes());
  EXPECT_EQ(code_of([&] { plan.forward(host, {}, result, {}); }), ErrorCode::backend_unavailable);
  const auto made = [&](Storage signal, std::optional<double> peak) {
    dense::Options changed = options;
    changed.formats.signal = signal;
    changed.formats.signal_peak = peak;
    return code_of([&] { CompactPlan(Shape(64), Domain::complex, changed); });
  };
  EXPECT_EQ(made(Storage::bf16, 1), std::nullopt);
  EXPECT_EQ(made(Storage::bf16, std::nullopt), std::nullopt);
  EXPECT_EQ(made(Storage::bf16, 1e38), ErrorCode::invalid_argument) << "sums beyond the range of float";
  dense::Options unknown = options;
  unknown.formats.signal = Storage::bf16;
  const CompactPlan finding(Shape(64), Domain::complex, unknown);
  const Workspace room(finding.device_workspace_bytes());
  const OnDevice<int> exponents(1);
  EXPECT_EQ(code_of([&] { finding.enqueue_forward(input.get(), output.get(), room.get(), nullptr); }),
            ErrorCode::invalid_argument)
      << "f16 results whose exponents go nowhere";
  EXPECT_EQ(code_of([&] {
              finding.enqueue_forward(input.get(), output.get(), room.get(), nullptr, nullptr,
                                      exponents.get());
            }),
            std::nullopt);
  dense::Options handing = options;
  handing.formats.between = Storage::block16;
  EXPECT_EQ(code_of([&] { CompactPlan(Shape(64), Domain::complex, handing); }),
            ErrorCode::backend_unavailable);
  EXPECT_EQ(made(Storage::f16, 0), ErrorCode::invalid_argument);
  EXPECT_EQ(made(Storage::f16, -1), ErrorCode::invalid_argument);
  EXPECT_EQ(made(Storage::f16, std::nan("")), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace sfft::test::compact_calls_cuda_test
