// SPDX-License-Identifier: Apache-2.0
// Tests kernels for 16-bit values that copy their next tile while they transform one, on a GPU: every kind of
// tile, both ways, against plans in double.
#include <cmath>

#include "kernels/base/half.hpp"
#include "kernels/dense/problem/compact_engine.hpp"
#include "kernels/dense/problem/problem.hpp"
#include "tests/support/compact.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test {
namespace {

using dense::Direction;
using dense::Storage;
using detail::F16;

class ReadAheadCuda : public GpuTest {};

struct Case {
  Shape shape;
  std::int64_t batch;
  const char* kernels;
};

std::vector<F16> rounded(const std::vector<double>& parts) {
  std::vector<F16> all;
  for (const double part : parts) all.push_back(detail::to_f16(static_cast<float>(part)));
  return all;
}
std::vector<double> widened(const std::vector<F16>& parts) {
  std::vector<double> all;
  for (const F16 part : parts) all.push_back(to_float(part));
  return all;
}

/// `offset`: values by which arrays begin behind aligned addresses.
void expect_right(const Case& c, std::size_t offset) {
  SCOPED_TRACE(c.shape.to_string() + " " + c.kernels + " offset " + std::to_string(offset));
  detail::DenseProblem problem;
  problem.shape = c.shape;
  problem = detail::contiguous_problem(problem, c.batch);
  const auto engine = detail::make_compact_engine(problem, {.between = Storage::f16}, c.kernels, false);
  ASSERT_NE(engine->kernel().find("double_buffered"), std::string::npos) << engine->kernel();

  const auto points = static_cast<double>(c.shape.points());
  const auto values = static_cast<std::size_t>(c.shape.points() * c.batch);
  const std::vector<F16> signal = rounded(parts_of(random_signal(values, 7), false));
  const std::vector<double> exact = widened(signal);
  const dense::Plan<double> plan(c.shape, false,
                                 {.normalization = dense::Normalization::none, .batch = c.batch});
  ComplexSignal expected(values);
  plan.forward(exact.data(), ElementType::c128, expected);
  const double scale = std::exp2(std::round(std::log2(256 / std::sqrt(points))));
  std::vector<double> wanted = parts_of(expected, false);
  for (double& part : wanted) part *= scale;

  const auto transformed = [&](Direction direction, const std::vector<F16>& from, double factor) {
    std::vector<F16> input(2 * offset, F16{0x7fff});
    input.insert(input.end(), from.begin(), from.end());
    const OnDevice<F16> device_input(input), output(2 * (offset + values));
    const Workspace workspace(engine->workspace_bytes());
    engine->run(direction, device_input.get() + 2 * offset, output.get() + 2 * offset, factor,
                workspace.get().data(), nullptr);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const std::vector<F16> all = output.read();
    return widened({all.begin() + static_cast<std::ptrdiff_t>(2 * offset), all.end()});
  };
  // Of results, of what lies between steps and of the inverse's input.
  const double stored = storage_bound(Storage::f16, 2 * points),
               bound = (1 + engine->handovers(Direction::forward)) * stored + 2 * fft_bound<float>(points);
  EXPECT_LE(relative_l2(transformed(Direction::forward, signal, scale), wanted), bound);
  EXPECT_LE(relative_l2(transformed(Direction::inverse, rounded(wanted), 1 / (points * scale)), exact),
            bound + stored);
}

TEST_F(ReadAheadCuda, EveryKindOfTile) {
  const Case cases[] = {
      {Shape(720), 1001,
       "kernel radices=45.16 threads_per_transform=16 transforms_per_block=4 twiddles=fused "
       "double_buffered=1"},
      {Shape(4096), 700,
       "kernel radices=32.16.8 threads_per_transform=128 twiddles=fused pad_interval=32 double_buffered=1"},
      {Shape({64, 96}), 40,
       "kernel radices=8.8 threads_per_transform=8 transforms_per_block=16 interleaved_shared=1 "
       "double_buffered=1 kernel radices=12.8 threads_per_transform=8 transforms_per_block=16 "
       "double_buffered=1"},
      {Shape({32, 64, 32}), 3,
       "factors=16.4 kernel radices=16.8.4 threads_per_transform=32 double_buffered=1 kernel radices=4.4.8 "
       "threads_per_transform=16 transforms_per_block=8 interleaved_shared=1 double_buffered=1"},
      {Shape(1 << 18), 2,
       "factors=64.64.64 alternating_groups=1 streams=2 kernel radices=8.8 threads_per_transform=8 "
       "transforms_per_block=16 double_buffered=1 kernel radices=8.8 threads_per_transform=8 "
       "transforms_per_block=16 interleaved_shared=1 double_buffered=1 kernel radices=8.8 "
       "threads_per_transform=8 transforms_per_block=16 interleaved_shared=1 double_buffered=1"}};
  for (const Case& c : cases) {
    for (const std::size_t offset : {0, 1}) expect_right(c, offset);
  }
}

}  // namespace
}  // namespace sfft::test
