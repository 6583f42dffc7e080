// SPDX-License-Identifier: Apache-2.0
// Tests how the tuned kernels that wisdom may name read and write memory: caches, double buffering,
// prefetching.
#include "kernels/dense/tuned/plan/geometry.hpp"
#include "tests/support/named_kernels.hpp"

namespace sfft::test::dense_kernel_loads_cuda_test {
namespace {

using detail::tuned::KernelPolicy;
using detail::tuned::Loads;
using detail::tuned::TransformPolicy;

class DenseKernelLoadsCuda : public NamedKernelsTest {};

/// Returns the plan that reads samples of type T.
template <class T>
using RealOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
void expect_every_caching_right(const Shape& shape, std::int64_t batch) {
  const NamedKernels<RealOf<T>> named(shape, !is_complex(element_type_of<T>::value), batch);
  TransformPolicy policy = named.by_rules();
  for (const auto& [loads, streaming] : {std::pair{Loads::cached, false},
                                         {Loads::bypass_l1, false},
                                         {Loads::prefetch_l2, false},
                                         {Loads::cached, true},
                                         {Loads::bypass_l1, true}}) {
    for (const int at_once : {0, 1}) {
      for (KernelPolicy& kernel : policy.kernels) {
        kernel.loads = loads;
        kernel.streaming = streaming;
      }
      policy.alternating_groups = at_once;
      policy.streams = 1 + at_once;
      named.template expect_forward_right<T>(named.plan(to_text(policy)));
    }
  }
}

TEST_F(DenseKernelLoadsCuda, EveryWayToUseTheCachesIsRight) {
  expect_every_caching_right<std::uint8_t>(Shape({30, 64}), 3);
  expect_every_caching_right<std::uint16_t>(Shape({33, 40}), 2);
  expect_every_caching_right<float>(Shape({32, 25}), 3);
  expect_every_caching_right<double>(Shape({24, 36}), 2);
  expect_every_caching_right<std::complex<float>>(Shape({20, 24, 30}), 1);
  expect_every_caching_right<std::complex<float>>(Shape(1 << 20), 1);
}

/// Transforms columns of 24 points by persistent blocks. There are more tiles than resident blocks, and the
/// last tile of a row is partial. Signals begin at 16-byte words, and `shift` samples later.
template <class T>
void expect_reading_ahead_right(const std::string& columns, std::int64_t shift) {
  using Real = RealOf<T>;
  constexpr ElementType kType = element_type_of<T>::value;
  const Shape shape({24, 80});
  const NamedKernels<Real> named(shape, true, 2000);
  const std::string kernel = columns + " kernel radices=5.8 threads_per_transform=8 transforms_per_block=4";
  const auto program =
      lay_out({named.problem(), sizeof(Real) == 4, false, kType}, *detail::tuned::parse_policy(kernel));
  EXPECT_TRUE(program.kernels[0].double_buffers()) << kernel;
  const auto plan = named.plan(kernel);
  const auto x = named.template signals<T>(7);
  std::vector<T> shifted(x.size() + static_cast<std::size_t>(shift));
  std::copy(x.begin(), x.end(), shifted.begin() + shift);
  const OnDevice<T> input(shifted);
  const OnDevice<std::complex<Real>> output(plan.spectrum_points());
  const Workspace workspace(plan.device_workspace_bytes());
  const detail::cuda::Queue stream;
  plan.enqueue_forward(input.get() + shift, kType, output.get(), workspace.get(), stream.get());
  detail::cuda::synchronize(stream.get());
  EXPECT_LE(relative_l2(output.read(), named.expected(x)), named.bound()) << kernel << ", " << shift;
}

TEST_F(DenseKernelLoadsCuda, ReadingAheadIsRight) {
  for (const std::int64_t shift : {0, 2}) {
    expect_reading_ahead_right<std::uint8_t>(
        "kernel radices=4.6 threads_per_transform=6 transforms_per_block=16 interleaved_shared=1 "
        "double_buffered=1",
        shift);
    expect_reading_ahead_right<std::uint8_t>(
        "kernel radices=12.2 threads_per_transform=2 transforms_per_block=32 interleaved_shared=1 "
        "twiddles=two_roots loads=prefetch_l2 double_buffered=1",
        shift);
    expect_reading_ahead_right<std::uint16_t>(
        "kernel radices=6.4 threads_per_transform=4 transforms_per_block=12 interleaved_shared=1 "
        "half_shared=1 pad_interval=6 double_buffered=1",
        shift);
    expect_reading_ahead_right<float>(
        "kernel radices=4.6 threads_per_transform=4 transforms_per_block=6 interleaved_shared=1 streaming=1 "
        "double_buffered=1",
        shift);
    expect_reading_ahead_right<double>(
        "kernel radices=2.12 threads_per_transform=2 transforms_per_block=16 pad=1 double_buffered=1", shift);
  }
}

/// Each transform in the stream reads the output of the one before. A block must not use data that it
/// prefetched into the L2 cache while the data was being written.
TEST_F(DenseKernelLoadsCuda, BeginningEarlyIsRight) {
  constexpr std::int64_t kLines = 20000;  // many times the number of resident blocks
  const Shape shape(120);
  const NamedKernels<float> named(shape, false, kLines);
  const std::string kernel =
      "kernel radices=12.10 threads_per_transform=12 transforms_per_block=4 pad_interval=12 early_prefetch=1";
  const auto program =
      lay_out({named.problem(), true, false, ElementType::c64}, *detail::tuned::parse_policy(kernel));
  EXPECT_TRUE(program.kernels[0].prefetches_early());
  const auto plan = named.plan(kernel);
  const auto x = named.signals<std::complex<float>>(9);
  const OnDevice<std::complex<float>> a(x), b(plan.spectrum_points());
  const Workspace workspace(plan.device_workspace_bytes());
  const detail::cuda::Queue stream;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  constexpr int kPairs = 20;
  for (int i = 0; i < kPairs; ++i) {
    plan.enqueue_forward(a.get(), ElementType::c64, b.get(), workspace.get(), stream.get());
    plan.enqueue_inverse(b.get(), a.get(), workspace.get(), stream.get());
  }
  detail::cuda::synchronize(stream.get());
  EXPECT_LE(relative_l2(b.read(), named.expected(x)), 2 * kPairs * named.bound());
  EXPECT_LE(relative_l2(a.read(), x), 2 * kPairs * named.bound());
}

TEST_F(DenseKernelLoadsCuda, PrefetchingIsRight) {
  // There are more tiles than resident blocks, and the last one is partial.
  expect_line_right<float>(120,
                           "kernel radices=12.10 threads_per_transform=12 transforms_per_block=4 "
                           "pad_interval=12 prefetch_distance=25",
                           30001);
  expect_line_right<double>(120,
                            "kernel radices=12.10 threads_per_transform=12 transforms_per_block=4 "
                            "pad_interval=12 prefetch_distance=100 block_delay=300 early_prefetch=1",
                            30001);
  expect_line_right<float>(127,
                           "kernel radices=18.7 threads_per_transform=7 transforms_per_block=16 staged=1 "
                           "interleaved_threads=1 prefetch_distance=35",
                           30001);
  const std::string rest =
      " kernel radices=5.8 threads_per_transform=8 transforms_per_block=4 prefetch_distance=50";
  const NamedKernels<float> frames(Shape({24, 80}), true, 2000);
  for (const char* columns : {"kernel radices=4.6 threads_per_transform=6 transforms_per_block=16 "
                              "interleaved_shared=1 prefetch_distance=25",
                              "kernel radices=6.4 threads_per_transform=4 transforms_per_block=12 "
                              "interleaved_shared=1 prefetch_distance=200"}) {
    const auto plan = frames.plan(columns + rest);
    frames.expect_forward_right<std::uint8_t>(plan);
    frames.expect_forward_right<float>(plan);
  }
}

}  // namespace
}  // namespace sfft::test::dense_kernel_loads_cuda_test
