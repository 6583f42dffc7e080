// SPDX-License-Identifier: Apache-2.0
// Tests the tuned kernels that wisdom may name: caches, alternating steps, radices, convolutions, double
// buffering.
#include <fmt/format.h>

#include "kernels/base/radices.hpp"
#include "kernels/dense/problem/gpu_engine.hpp"
#include "kernels/dense/problem/problem.hpp"
#include "kernels/dense/tuned/codegen/compiler.hpp"
#include "kernels/dense/tuned/codegen/source.hpp"
#include "kernels/dense/tuned/plan/geometry.hpp"
#include "kernels/dense/tuned/policy/policy_text.hpp"
#include "kernels/dense/tuned/run/executable.hpp"
#include "kernels/dense/tuned/search/tuner.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"
#include "kernels/dense/wisdom/wisdom_problem.hpp"
#include "sfft/dense.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/dense_reference.hpp"

namespace sfft {
namespace {

using detail::tuned::KernelPolicy;
using detail::tuned::Loads;
using detail::tuned::PlanPolicy;
using detail::tuned::TransformPolicy;
using test::as_samples;
using test::expected_spectra;
using test::OnDevice;
using test::random_signal;
using test::relative_l2;

class DenseKernelsCuda : public test::GpuTest {
 protected:
  ~DenseKernelsCuda() override { dense::forget_wisdom(); }
};

/// Transforms a shape by kernels that wisdom names.
template <class Real>
class Named {
 public:
  Named(const Shape& shape, bool real, std::int64_t batch)
      : shape_(shape),
        real_(real),
        options_{.backend = Backend::cuda, .batch = batch},
        problem_(detail::make_problem(shape, real, options_)) {}

  const detail::DenseProblem& problem() const { return problem_; }
  TransformPolicy by_rules() const { return detail::tuned::choose_by_rules(problem_, sizeof(Real) == 4); }
  double bound() const {
    return test::gpu_bound<Real>(dense::Engine::tuned, static_cast<double>(shape_.points()));
  }

  dense::Plan<Real> plan(const std::string& kernel) const {
    dense::forget_wisdom();
    detail::Wisdom::global().add(detail::gpu_platform(0), detail::wisdom_problem<Real>(problem_),
                                 {"tuned", kernel, 1});
    dense::Plan<Real> plan(shape_, real_, options_);
    // Text in the order of the knobs, without those at their defaults.
    const auto policy = detail::tuned::parse_plan_policy(kernel);
    const std::string name = policy ? detail::tuned::to_text(*policy) : "not a policy: " + kernel;
    EXPECT_NE(plan.engine_name().find(name), std::string::npos)
        << name << ": " << plan.engine_name() << ", " << plan.reason();
    return plan;
  }

  /// Random samples of type T that fit 8 bits.
  template <class T>
  std::vector<T> signals(unsigned seed) const {
    test::ComplexSignal noise = random_signal(detail::span_points(problem_), seed);
    if (real_) {
      for (auto& value : noise) value = {std::abs(50 * value.real()), 0};
    }
    return as_samples<T>(noise);
  }

  /// The expected result, by the built-in engine in double.
  template <class T>
  std::vector<std::complex<double>> expected(const std::vector<T>& x) const {
    const dense::Plan<double> exact(shape_, real_,
                                    {.engine = dense::Engine::built_in, .batch = options_.batch});
    std::vector<std::complex<double>> spectra(exact.spectrum_points());
    exact.forward(x.data(), element_type_of<T>::value, spectra);
    return spectra;
  }

  template <class T>
  void expect_forward_right(const dense::Plan<Real>& plan) const {
    const auto x = signals<T>(5);
    EXPECT_LE(relative_l2(test::forward_on_device(plan, x), expected(x)), bound()) << plan.engine_name();
  }

 private:
  Shape shape_;
  bool real_;
  dense::Options options_;
  detail::DenseProblem problem_;
};

/// The plan that reads samples of type T.
template <class T>
using RealOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
void expect_every_caching_right(const Shape& shape, std::int64_t batch) {
  const Named<RealOf<T>> named(shape, !is_complex(element_type_of<T>::value), batch);
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

TEST_F(DenseKernelsCuda, EveryWayToUseTheCachesIsRight) {
  expect_every_caching_right<std::uint8_t>(Shape({30, 64}), 3);
  expect_every_caching_right<std::uint16_t>(Shape({33, 40}), 2);
  expect_every_caching_right<float>(Shape({32, 25}), 3);
  expect_every_caching_right<double>(Shape({24, 36}), 2);
  expect_every_caching_right<std::complex<float>>(Shape({20, 24, 30}), 1);
  expect_every_caching_right<std::complex<float>>(Shape(1 << 20), 1);
}

/// Columns of 24 points by persistent blocks: more tiles than a GPU holds blocks, the last one of a row
/// partial; signals that begin at 16-byte words, and `shift` samples later.
template <class T>
void expect_reading_ahead_right(const std::string& columns, std::int64_t shift) {
  using Real = RealOf<T>;
  constexpr ElementType kType = element_type_of<T>::value;
  const Shape shape({24, 80});
  const Named<Real> named(shape, true, 2000);
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
  const test::Workspace workspace(plan.device_workspace_bytes());
  const detail::cuda::OwnedStream stream;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);  // another stream fills the arrays
  plan.enqueue_forward(input.get() + shift, kType, output.get(), workspace.get(), stream.get());
  detail::cuda::synchronize(stream.get());
  EXPECT_LE(relative_l2(output.read(), named.expected(x)), named.bound()) << kernel << ", " << shift;
}

TEST_F(DenseKernelsCuda, ReadingAheadIsRight) {
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

/// Transforms in one stream, each reading the output of the one before: a block must not read what it brought
/// into the L2 cache while that was being written.
TEST_F(DenseKernelsCuda, BeginningEarlyIsRight) {
  constexpr std::int64_t kLines = 20000;  // many times the blocks that a GPU holds
  const Shape shape(120);
  const Named<float> named(shape, false, kLines);
  const std::string kernel =
      "kernel radices=12.10 threads_per_transform=12 transforms_per_block=4 pad_interval=12 early_prefetch=1";
  const auto program =
      lay_out({named.problem(), true, false, ElementType::c64}, *detail::tuned::parse_policy(kernel));
  EXPECT_TRUE(program.kernels[0].prefetches_early());
  const auto plan = named.plan(kernel);
  const auto x = named.signals<std::complex<float>>(9);
  const OnDevice<std::complex<float>> a(x), b(plan.spectrum_points());
  const test::Workspace workspace(plan.device_workspace_bytes());
  const detail::cuda::OwnedStream stream;
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

/// Forward, and there and back, for lines of n points.
template <class Real>
void expect_line_right(std::int64_t n, const std::string& line, std::int64_t batch = 7) {
  const Named<Real> named(Shape(n), false, batch);
  const auto plan = named.plan(line);
  const auto x = named.template signals<std::complex<Real>>(8);
  const auto spectra = test::forward_on_device(plan, x);
  EXPECT_LE(relative_l2(spectra, expected_spectra(x, Shape(n), false)), named.bound()) << line;
  EXPECT_LE(relative_l2(test::inverse_on_device(plan, spectra, x), x), 2 * named.bound()) << line;
}

TEST_F(DenseKernelsCuda, PrefetchingIsRight) {
  // More tiles than a GPU holds blocks, the last one partial.
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
  const Named<float> frames(Shape({24, 80}), true, 2000);
  for (const char* columns : {"kernel radices=4.6 threads_per_transform=6 transforms_per_block=16 "
                              "interleaved_shared=1 prefetch_distance=25",
                              "kernel radices=6.4 threads_per_transform=4 transforms_per_block=12 "
                              "interleaved_shared=1 prefetch_distance=200"}) {
    const auto plan = frames.plan(columns + rest);
    frames.expect_forward_right<std::uint8_t>(plan);
    frames.expect_forward_right<float>(plan);
  }
}

/// Forward, and there and back in place.
template <class Real>
void expect_in_place_right(const Shape& shape, std::int64_t batch, const std::string& kernel) {
  using C = std::complex<Real>;
  const Named<Real> named(shape, false, batch);
  const auto plan = named.plan(kernel);
  const auto x = named.template signals<C>(4);
  const OnDevice<C> array(x);
  const test::Workspace workspace(plan.device_workspace_bytes());
  const detail::cuda::OwnedStream stream;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);  // another stream fills the array
  plan.enqueue_forward(array.get(), element_type_of<C>::value, array.get(), workspace.get(), stream.get());
  detail::cuda::synchronize(stream.get());
  EXPECT_LE(relative_l2(array.read(), named.expected(x)), named.bound()) << kernel;
  plan.enqueue_inverse(array.get(), array.get(), workspace.get(), stream.get());
  detail::cuda::synchronize(stream.get());
  EXPECT_LE(relative_l2(array.read(), x), 2 * named.bound()) << kernel;
}

TEST_F(DenseKernelsCuda, StepsByTurnsInPlaceAreRight) {
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

TEST_F(DenseKernelsCuda, VolumesInTwoStepsAreRight) {
  const auto kernel = [](const std::string& factors, const std::string& kernels) {
    return "factors=" + factors + " min_blocks_per_multiprocessor=2 " + kernels;
  };
  const Shape cube({64, 64, 64}), odd({15, 12, 20}), even({16, 32, 48});
  // Several times more tiles than a GPU holds blocks at once.
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
  // Digits that carry, idle threads, and rows that do not divide evenly among threads.
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
  const Named<float> named(cube, false, 2);
  named.expect_forward_right<std::complex<float>>(named.plan(to_text(named.by_rules())));
}

TEST_F(DenseKernelsCuda, LargeVolumesGoOneByOne) {
  expect_in_place_right<float>(
      Shape({512, 256, 256}), 2,
      "factors=32.8 kernel radices=32.16.16 threads_per_transform=256 pad_interval=16 block_delay=2000 "
      "kernel radices=32.16.8 threads_per_transform=256 transforms_per_block=4 interleaved_shared=1 "
      "block_delay=2000 multiprocessor_delay=7000");
}

TEST_F(DenseKernelsCuda, EveryRadixIsRight) {
  for (const auto& row : detail::kRadices) {
    const int radix = row.radix;
    const std::string four = "kernel threads_per_transform=8 transforms_per_block=4 ";
    const std::string three = "kernel threads_per_transform=8 transforms_per_block=3 ";
    expect_line_right<float>(8 * radix, fmt::format("{}radices={}.8 pad_interval={}", four, radix, radix));
    for (const char* twiddles : {"one_root", "two_roots", "table"})
      expect_line_right<float>(8 * radix, fmt::format("{}radices=8.{} twiddles={}", three, radix, twiddles));
    if (radix <= 20)
      expect_line_right<double>(
          8 * radix,
          fmt::format("kernel radices=8.{} threads_per_transform=8 transforms_per_block=2 pad_interval=8",
                      radix));
  }
}

TEST_F(DenseKernelsCuda, EveryConvolutionIsRight) {
  for (const char* line :
       {"kernel radices=18.7 threads_per_transform=7 transforms_per_block=9 staged=1",
        "kernel radices=7.18 threads_per_transform=9 transforms_per_block=2",
        "kernel radices=2.7.9 threads_per_transform=14 transforms_per_block=4 staged=1",
        "kernel radices=3.6.7 threads_per_transform=21 transforms_per_block=3 staged=1",
        "kernel radices=16.16 threads_per_transform=16 transforms_per_block=2 pad_interval=16"}) {
    expect_line_right<float>(127, line);
    if (line[0] != '1') expect_line_right<double>(127, line);
  }
  for (const char* line :
       {"kernel radices=25.10 threads_per_transform=13 transforms_per_block=3 staged=1",
        "kernel radices=5.5.10 threads_per_transform=25 transforms_per_block=5 staged=1 pad=1",
        "kernel radices=16.32 threads_per_transform=16 transforms_per_block=2 pad_interval=16",
        "kernel radices=32.16 threads_per_transform=32 pad_interval=32"})
    expect_line_right<float>(251, line);
  for (const char* line : {"kernel radices=3.20.17 threads_per_transform=60 staged=1",
                           "kernel radices=4.15.17 threads_per_transform=60 transforms_per_block=2 staged=1",
                           "kernel radices=17.12.5 threads_per_transform=85",
                           "kernel radices=8.16.16 threads_per_transform=128 pad_interval=8"})
    expect_line_right<float>(1021, line);
  for (const char* line :
       {"kernel radices=18.7 threads_per_transform=7 transforms_per_block=16 staged=1 interleaved_threads=1",
        "kernel radices=7.18 threads_per_transform=9 transforms_per_block=32 interleaved_shared=1 staged=1 "
        "interleaved_threads=1 early_prefetch=1",
        "kernel radices=3.6.7 threads_per_transform=21 transforms_per_block=5 staged=1 interleaved_threads=1 "
        "pad=1"}) {
    expect_line_right<float>(127, line, 39);  // whole tiles and a partial one
    expect_line_right<double>(127, line, 39);
  }
  expect_line_right<float>(251,
                           "kernel radices=25.10 threads_per_transform=10 transforms_per_block=16 staged=1 "
                           "interleaved_threads=1 early_prefetch=1",
                           39);
  expect_line_right<float>(
      509, "kernel radices=32.32 threads_per_transform=32 transforms_per_block=2 pad_interval=32");
  expect_line_right<float>(509, "kernel radices=30.36 threads_per_transform=36 pad_interval=30");
}

TEST_F(DenseKernelsCuda, NeighbouringThreadsMayHoldNeighbouringLines) {
  expect_line_right<float>(
      60,
      "kernel radices=6.10 threads_per_transform=6 transforms_per_block=16 staged=1 interleaved_threads=1",
      39);
  expect_line_right<double>(60,
                            "kernel radices=10.6 threads_per_transform=10 transforms_per_block=8 "
                            "interleaved_shared=1 staged=1 interleaved_threads=1",
                            39);
  expect_line_right<float>(127,
                           "kernel radices=16.16 threads_per_transform=16 transforms_per_block=16 staged=1 "
                           "interleaved_threads=1 pad=1",
                           39);  // Bluestein's
  const Named<float> rows(Shape({30, 84}), true, 3);
  rows.expect_forward_right<float>(
      rows.plan("kernel radices=6.5 threads_per_transform=5 transforms_per_block=8 interleaved_shared=1 "
                "kernel radices=6.7 threads_per_transform=7 transforms_per_block=16 interleaved_threads=1"));
}

TEST_F(DenseKernelsCuda, BlocksOfAMultiprocessorMayBeLimited) {
  const Named<float> named(Shape(240), false, 1000);
  const detail::cuda::DeviceInfo device = detail::cuda::device_info(0);
  const auto resident = [&](const std::string& limit) {
    const std::string kernel = "kernel radices=15.16 threads_per_transform=16 transforms_per_block=4" + limit;
    named.expect_forward_right<std::complex<float>>(named.plan(kernel));
    auto program =
        lay_out({named.problem(), true, false, ElementType::c64}, *detail::tuned::parse_policy(kernel));
    const auto compiled = detail::tuned::compile({source_of(program.kernels[0], true)},
                                                 fmt::format("sm_{}{}", device.major, device.minor));
    detail::tuned::Tables tables(true);
    return detail::tuned::Executable(std::move(program), {compiled[0].image}, true, tables, device)
               .resident(0) /
           device.multiprocessors;
  };
  const std::int64_t most = resident("");
  ASSERT_GT(most, 3);
  for (const std::int64_t limit : {std::int64_t{1}, std::int64_t{3}, most - 1})
    EXPECT_EQ(resident(fmt::format(" max_blocks_per_multiprocessor={}", limit)), limit);
  EXPECT_EQ(resident(" max_blocks_per_multiprocessor=32"), most);
}

/// Copied and transformed in parts: several or all columns at once, several planes, and shorter last parts.
void expect_phases_right(const std::string& kernel, std::int64_t columns_at_once) {
  using C = std::complex<float>;
  const Named<float> named(Shape({90, 160, 320}), false, 1);
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

TEST_F(DenseKernelsCuda, VolumesInPageLockedMemoryRunInPhases) {
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

TEST_F(DenseKernelsCuda, BytesMayHaveKernelsOfTheirOwn) {
  const Named<float> named(Shape({40, 48}), true, 3);
  PlanPolicy policies{named.by_rules(), std::nullopt};
  policies.bytes = policies.own;
  policies.bytes->alternating_groups = 2;  // scratch memory of another size, too
  const auto plan = named.plan(to_text(policies));
  named.expect_forward_right<std::uint8_t>(plan);
  named.expect_forward_right<std::uint16_t>(plan);
  named.expect_forward_right<float>(plan);
}

}  // namespace
}  // namespace sfft
