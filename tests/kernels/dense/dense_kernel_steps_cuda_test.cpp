// SPDX-License-Identifier: Apache-2.0
// Tests transforms of several steps by tuned kernels that wisdom may name: alternating steps, volumes in two
// steps, in place and in phases.
#include "tests/support/named_kernels.hpp"

namespace sfft::test::dense_kernel_steps_cuda_test {
namespace {

class DenseKernelStepsCuda : public NamedKernelsTest {};

/// Checks the forward transform, and the round trip in place.
template <class Real>
void expect_in_place_right(const Shape& shape, std::int64_t batch, const std::string& kernel) {
  using C = std::complex<Real>;
  const NamedKernels<Real> named(shape, false, batch);
  const auto plan = named.plan(kernel);
  const auto x = named.template signals<C>(4);
  const OnDevice<C> array(x);
  const Workspace workspace(plan.device_workspace_bytes());
  const detail::cuda::Queue stream;
  plan.enqueue_forward(array.get(), element_type_of<C>::value, array.get(), workspace.get(), stream.get());
  detail::cuda::synchronize(stream.get());
  EXPECT_LE(relative_l2(array.read(), named.expected(x)), named.bound()) << kernel;
  plan.enqueue_inverse(array.get(), array.get(), workspace.get(), stream.get());
  detail::cuda::synchronize(stream.get());
  EXPECT_LE(relative_l2(array.read(), x), 2 * named.bound()) << kernel;
}

TEST_F(DenseKernelStepsCuda, StepsByTurnsInPlaceAreRight) {
  const std::string head = "alternating_groups=3 streams=2 ring_buffer=0 ";
  const std::string volume =
      "kernel radices=6.5 threads_per_transform=6 transforms_per_block=32 interleaved_shared=1 "
      "prefetch_distance=12 kernel radices=6.4 threads_per_transform=6 transforms_per_block=16 "
      "interleaved_shared=1 loads=bypass_l1 kernel radices=8.4 threads_per_transform=8 "
      "transforms_per_block=4 streaming=1 prefetch_distance=50";
  expect_in_place_right<float>(Shape({30, 24, 32}), 2, head + volume);
  expect_in_place_right<double>(Shape({30, 24, 32}), 1, head + volume);
  expect_in_place_right<float>(
      Shape({24, 48}), 50,
      head +
          "kernel radices=6.4 threads_per_transform=6 transforms_per_block=16 interleaved_shared=1 "
          "streaming=1 kernel radices=8.6 threads_per_transform=8 transforms_per_block=4 loads=bypass_l1 "
          "streaming=1");
  expect_in_place_right<float>(
      Shape(64 * 30 * 24), 2,
      head +
          "factors=64.30.24 kernel radices=8.8 threads_per_transform=8 transforms_per_block=16 "
          "pad_interval=8 prefetch_distance=25 kernel radices=6.5 threads_per_transform=6 "
          "transforms_per_block=16 interleaved_shared=1 loads=bypass_l1 kernel radices=6.4 "
          "threads_per_transform=6 transforms_per_block=16 interleaved_shared=1 streaming=1");
}

TEST_F(DenseKernelStepsCuda, VolumesInTwoStepsAreRight) {
  const auto kernel = [](const std::string& factors, const std::string& kernels) {
    return "factors=" + factors + " min_blocks_per_multiprocessor=2 " + kernels;
  };
  const Shape cube({64, 64, 64}), odd({15, 12, 20}), even({16, 32, 48});
  // There are several times more tiles than resident blocks.
  expect_in_place_right<float>(
      cube, 40,
      kernel("16.4",
             "kernel radices=16.8.8 threads_per_transform=64 pad_interval=8 prefetch_distance=25 "
             "block_delay=300 multiprocessor_delay=800 kernel radices=8.8.4 threads_per_transform=16 "
             "transforms_per_block=8 interleaved_shared=1 pad_interval=4 prefetch_distance=50 "
             "multiprocessor_delay=4000"));
  expect_in_place_right<double>(cube, 3,
                                kernel("8.8",
                                       "kernel radices=8.8.8 threads_per_transform=64 twiddles=two_roots "
                                       "kernel radices=8.8.8 threads_per_transform=64 transforms_per_block=4 "
                                       "interleaved_shared=1 twiddles=table prefetch_distance=12"));
  expect_in_place_right<float>(
      even, 2,
      kernel("8.4",
             "kernel radices=8.12.4 threads_per_transform=48 transforms_per_block=2 pad_interval=8 "
             "loads=bypass_l1 kernel radices=16.4 threads_per_transform=16 transforms_per_block=16 "
             "interleaved_shared=1 streaming=1"));
  expect_in_place_right<float>(
      even, 1,
      kernel("4.8",
             "kernel radices=4.6.8 threads_per_transform=24 transforms_per_block=4 pad_interval=4 "
             "early_prefetch=1 kernel radices=16.2.4 threads_per_transform=16 transforms_per_block=12 "
             "interleaved_shared=1 half_shared=1"));
  // These have digits that carry, idle threads, and rows that do not divide evenly among threads.
  expect_in_place_right<float>(
      odd, 2,
      kernel("4.3",
             "kernel radices=4.5.4 threads_per_transform=20 kernel radices=5.3.3 threads_per_transform=15 "
             "transforms_per_block=4 interleaved_shared=1 multiprocessor_delay=800"));
  expect_in_place_right<float>(
      odd, 1,
      kernel("2.6",
             "kernel radices=2.4.5 threads_per_transform=20 transforms_per_block=2 prefetch_distance=25 "
             "kernel radices=15.6 threads_per_transform=4 transforms_per_block=20 prefetch_distance=25"));
  expect_in_place_right<double>(
      Shape({12, 18, 30}), 1,
      kernel("6.3",
             "kernel radices=3.2.6.5 threads_per_transform=27 transforms_per_block=3 kernel radices=4.3.3 "
             "threads_per_transform=36 transforms_per_block=5"));
  const NamedKernels<float> named(cube, false, 2);
  named.expect_forward_right<std::complex<float>>(named.plan(to_text(named.by_rules())));
}

TEST_F(DenseKernelStepsCuda, LargeVolumesGoOneByOne) {
  expect_in_place_right<float>(
      Shape({512, 256, 256}), 2,
      "factors=32.8 kernel radices=32.16.16 threads_per_transform=256 pad_interval=16 block_delay=2000 "
      "kernel radices=32.16.8 threads_per_transform=256 transforms_per_block=4 interleaved_shared=1 "
      "block_delay=2000 multiprocessor_delay=7000");
}

/// Copies and transforms in parts: several or all columns at once, several planes, and shorter last parts.
void expect_phases_right(const std::string& kernel, std::int64_t columns_at_once) {
  using C = std::complex<float>;
  const NamedKernels<float> named(Shape({90, 160, 320}), false, 1);
  const auto engine = detail::make_tuned_engine<float>(named.problem(), kernel, false);
  ASSERT_NE(engine->phases(), nullptr);
  EXPECT_EQ(engine->phases()->columns_at_once(), columns_at_once);
  const auto plan = named.plan(kernel);
  const auto x = named.signals<C>(6);
  const detail::cuda::PinnedBuffer signal(x.size() * sizeof(C)), spectrum(x.size() * sizeof(C));
  const std::span in(signal.as<C>(), x.size()), out(spectrum.as<C>(), x.size());
  const auto values = [](std::span<const C> array) { return std::vector<C>(array.begin(), array.end()); };
  for (int call = 0; call < 2; ++call) {  // the second call reuses the memory of the first
    std::copy(x.begin(), x.end(), in.begin());
    std::fill(out.begin(), out.end(), C(7, 7));
    plan.forward(in.data(), ElementType::c64, out);
    EXPECT_LE(relative_l2(values(out), named.expected(x)), named.bound());
    std::fill(in.begin(), in.end(), C(7, 7));
    plan.inverse(out, in);
    EXPECT_LE(relative_l2(values(in), x), 2 * named.bound());
  }
  plan.inverse(out, out);
  EXPECT_LE(relative_l2(values(out), x), 2 * named.bound()) << "in place";
}

TEST_F(DenseKernelStepsCuda, VolumesInPageLockedMemoryRunInPhases) {
  expect_phases_right(
      "alternating_groups=4 streams=3 kernel radices=10.9 threads_per_transform=10 transforms_per_block=16 "
      "interleaved_shared=1 kernel radices=16.10 threads_per_transform=16 transforms_per_block=16 "
      "interleaved_shared=1 kernel radices=16.20 threads_per_transform=20 transforms_per_block=4",
      16);
  expect_phases_right(
      "factors=20.8 kernel radices=20.16.20 threads_per_transform=320 pad_interval=20 kernel radices=10.9.8 "
      "threads_per_transform=90 transforms_per_block=8 interleaved_shared=1",
      160 * 320);
}

}  // namespace
}  // namespace sfft::test::dense_kernel_steps_cuda_test
