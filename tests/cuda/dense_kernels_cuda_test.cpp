// SPDX-License-Identifier: Apache-2.0
// The tuned kernels that wisdom may name: caches, steps by turns, radices, convolutions, reading ahead.
#include <fmt/format.h>

#include "kernels/dense/gpu_engine.hpp"
#include "kernels/dense/problem.hpp"
#include "kernels/dense/tuned/compiler.hpp"
#include "kernels/dense/tuned/executable.hpp"
#include "kernels/dense/tuned/geometry.hpp"
#include "kernels/dense/tuned/tuner.hpp"
#include "kernels/dense/wisdom.hpp"
#include "sfft/dense.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/dense_reference.hpp"

namespace sfft {
namespace {

using detail::tuned::Caching;
using detail::tuned::Choice;
using detail::tuned::Choices;
using detail::tuned::LineChoice;
using detail::tuned::Loads;
using test::as_samples;
using test::expected_spectra;
using test::OnDevice;
using test::random_signal;
using test::relative_l2;

class DenseKernelsCuda : public test::GpuTest {
 protected:
  ~DenseKernelsCuda() override { dense::forget_wisdom(); }
};

/// Transforms of a shape by kernels that wisdom names.
template <class Real>
class Named {
 public:
  Named(const Shape& shape, bool real, std::int64_t batch)
      : shape_(shape),
        real_(real),
        options_{.backend = Backend::cuda, .batch = batch},
        problem_(detail::make_problem(shape, real, options_)) {}

  const detail::DenseProblem& problem() const { return problem_; }
  Choice by_rules() const { return detail::tuned::choose_by_rules(problem_, sizeof(Real) == 4); }
  double bound() const {
    return test::gpu_bound<Real>(dense::Engine::tuned, static_cast<double>(shape_.points()));
  }

  dense::Plan<Real> plan(const std::string& kernel) const {
    dense::forget_wisdom();
    detail::Wisdom::global().add(detail::gpu_place(0), detail::wisdom_problem<Real>(problem_),
                                 {"tuned", kernel, 1});
    dense::Plan<Real> plan(shape_, real_, options_);
    EXPECT_NE(plan.engine_name().find(kernel), std::string::npos)
        << kernel << ": " << plan.engine_name() << ", " << plan.reason();
    return plan;
  }

  /// Of type T; of samples that fit 8 bits.
  template <class T>
  std::vector<T> signals(unsigned seed) const {
    test::ComplexSignal noise = random_signal(detail::span_points(problem_), seed);
    if (real_) {
      for (auto& value : noise) value = {std::abs(50 * value.real()), 0};
    }
    return as_samples<T>(noise);
  }

  /// By the built-in engine in double.
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

/// Of the plan that reads samples of type T.
template <class T>
using RealOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
void expect_every_caching_right(const Shape& shape, std::int64_t batch) {
  const Named<RealOf<T>> named(shape, !is_complex(element_type_of<T>::value), batch);
  Choice choice = named.by_rules();
  for (const Caching caching : {Caching{},
                                {Loads::past_l1, false},
                                {Loads::prefetch, false},
                                {Loads::usual, true},
                                {Loads::past_l1, true}}) {
    for (const int at_once : {0, 1}) {
      for (LineChoice& line : choice.lines) line.caching = caching;
      choice.at_once = at_once;
      choice.streams = 1 + at_once;
      named.template expect_forward_right<T>(named.plan(to_text(choice)));
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

/// Columns of 24 points whose blocks stay, more tiles than a GPU holds blocks, the last one of a row in part;
/// signals that begin at whole words of 16 bytes, and `shift` samples later.
template <class T>
void expect_reading_ahead_right(const std::string& columns, std::int64_t shift) {
  using Real = RealOf<T>;
  constexpr ElementType kType = element_type_of<T>::value;
  const Shape shape({24, 80});
  const Named<Real> named(shape, true, 2000);
  const std::string kernel = "once 0 streams 1 blocks 1 chunk 16 split - | " + columns + " | 5.8 t8 l4";
  const auto program =
      lay_out({named.problem(), sizeof(Real) == 4, false, kType}, *detail::tuned::parse_choice(kernel));
  EXPECT_TRUE(program.kernels[0].reads_ahead()) << kernel;
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
    expect_reading_ahead_right<std::uint8_t>("4.6 t6 l16 m q", shift);
    expect_reading_ahead_right<std::uint8_t>("12.2 t2 l32 m a q f", shift);
    expect_reading_ahead_right<std::uint16_t>("6.4 t4 l12 e6 m s q", shift);
    expect_reading_ahead_right<float>("4.6 t4 l6 m q o", shift);
    expect_reading_ahead_right<double>("2.12 t2 l16 p1 q", shift);
  }
}

/// Transforms in one stream whose inputs are the outputs of the ones before: what a block brings to the L2
/// cache while those are written must not be what it reads.
TEST_F(DenseKernelsCuda, BeginningEarlyIsRight) {
  constexpr std::int64_t kLines = 20000;  // many times what a GPU holds
  const Shape shape(120);
  const Named<float> named(shape, false, kLines);
  const std::string kernel = "once 0 streams 1 blocks 1 chunk 16 split - | 12.10 t12 l4 e12 b";
  const auto program =
      lay_out({named.problem(), true, false, ElementType::c64}, *detail::tuned::parse_choice(kernel));
  EXPECT_TRUE(program.kernels[0].begins_early());
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

/// Forward and there and back, of lines of n points.
template <class Real>
void expect_line_right(std::int64_t n, const std::string& line, std::int64_t batch = 7) {
  const Named<Real> named(Shape(n), false, batch);
  const auto plan = named.plan("once 0 streams 1 blocks 1 chunk 16 split - | " + line);
  const auto x = named.template signals<std::complex<Real>>(8);
  const auto spectra = test::forward_on_device(plan, x);
  EXPECT_LE(relative_l2(spectra, expected_spectra(x, Shape(n), false)), named.bound()) << line;
  EXPECT_LE(relative_l2(test::inverse_on_device(plan, spectra, x), x), 2 * named.bound()) << line;
}

TEST_F(DenseKernelsCuda, PrefetchingIsRight) {
  // More tiles than a GPU holds blocks, the last one in part.
  expect_line_right<float>(120, "12.10 t12 l4 e12 d25", 30001);
  expect_line_right<double>(120, "12.10 t12 l4 e12 d100 g300 b", 30001);
  expect_line_right<float>(127, "18.7 t7 l16 d35 c x", 30001);
  const std::string rest = " | 5.8 t8 l4 d50";
  const Named<float> frames(Shape({24, 80}), true, 2000);
  for (const char* columns : {"4.6 t6 l16 d25 m", "6.4 t4 l12 d200 m"}) {
    const auto plan = frames.plan("once 0 streams 1 blocks 1 chunk 16 split - | " + (columns + rest));
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
  const std::string head = "once 3 streams 2 ring 0 blocks 1 chunk 16 split ";
  const std::string volume = "- | 6.5 t6 l32 d12 m | 6.4 t6 l16 m n | 8.4 t8 l4 d50 o";
  expect_in_place_right<float>(Shape({30, 24, 32}), 2, head + volume);
  expect_in_place_right<double>(Shape({30, 24, 32}), 1, head + volume);
  expect_in_place_right<float>(Shape({24, 48}), 50, head + "- | 6.4 t6 l16 m o | 8.6 t8 l4 n o");
  expect_in_place_right<float>(Shape(64 * 30 * 24), 2,
                               head + "64.30.24 | 8.8 t8 l16 e8 d25 | 6.5 t6 l16 m n | 6.4 t6 l16 m o");
}

TEST_F(DenseKernelsCuda, VolumesInTwoStepsAreRight) {
  const auto kernel = [](const std::string& split, const std::string& lines) {
    return "once 0 streams 1 blocks 2 chunk 16 split " + split + " | " + lines;
  };
  const Shape cube({64, 64, 64}), odd({15, 12, 20}), even({16, 32, 48});
  // More tiles than a GPU holds blocks at once several times over.
  expect_in_place_right<float>(
      cube, 40, kernel("16.4", "16.8.8 t64 l1 e8 d25 v800 g300 | 8.8.4 t16 l8 e4 d50 v4000 m"));
  expect_in_place_right<double>(cube, 3, kernel("8.8", "8.8.8 t64 l1 a | 8.8.8 t64 l4 d12 m w"));
  expect_in_place_right<float>(even, 2, kernel("8.4", "8.12.4 t48 l2 e8 n | 16.4 t16 l16 m o"));
  expect_in_place_right<float>(even, 1, kernel("4.8", "4.6.8 t24 l4 e4 b | 16.2.4 t16 l12 m s"));
  // Digits that carry, idle threads, rows that threads do not share evenly.
  expect_in_place_right<float>(odd, 2, kernel("4.3", "4.5.4 t20 l1 | 5.3.3 t15 l4 v800 m"));
  expect_in_place_right<float>(odd, 1, kernel("2.6", "2.4.5 t20 l2 d25 | 15.6 t4 l20 d25"));
  expect_in_place_right<double>(Shape({12, 18, 30}), 1, kernel("6.3", "3.2.6.5 t27 l3 | 4.3.3 t36 l5"));
  const Named<float> named(cube, false, 2);
  named.expect_forward_right<std::complex<float>>(named.plan(to_text(named.by_rules())));
}

TEST_F(DenseKernelsCuda, LargeVolumesGoOneByOne) {
  expect_in_place_right<float>(Shape({512, 256, 256}), 2,
                               "once 0 streams 1 blocks 1 chunk 16 split 32.8 | 32.16.16 t256 l1 e16 g2000 | "
                               "32.16.8 t256 l4 v7000 g2000 m");
}

TEST_F(DenseKernelsCuda, EveryRadixIsRight) {
  for (const int radix : detail::tuned::kRadices) {
    expect_line_right<float>(8 * radix, fmt::format("{}.8 t8 l4 e{}", radix, radix));
    for (const char* twiddles : {"", " a", " w"})
      expect_line_right<float>(8 * radix, fmt::format("8.{} t8 l3{}", radix, twiddles));
    if (radix <= 20) expect_line_right<double>(8 * radix, fmt::format("8.{} t8 l2 e8", radix));
  }
}

TEST_F(DenseKernelsCuda, EveryConvolutionIsRight) {
  for (const char* line :
       {"18.7 t7 l9 c", "7.18 t9 l2", "2.7.9 t14 l4 c", "3.6.7 t21 l3 c", "16.16 t16 l2 e16"}) {
    expect_line_right<float>(127, line);
    if (line[0] != '1') expect_line_right<double>(127, line);
  }
  for (const char* line : {"25.10 t13 l3 c", "5.5.10 t25 l5 p1 c", "16.32 t16 l2 e16", "32.16 t32 l1 e32"})
    expect_line_right<float>(251, line);
  for (const char* line : {"3.20.17 t60 l1 c", "4.15.17 t60 l2 c", "17.12.5 t85 l1", "8.16.16 t128 l1 e8"})
    expect_line_right<float>(1021, line);
  for (const char* line : {"18.7 t7 l16 c x", "7.18 t9 l32 m c x b", "3.6.7 t21 l5 p1 c x"}) {
    expect_line_right<float>(127, line, 39);  // whole tiles and one in part
    expect_line_right<double>(127, line, 39);
  }
  expect_line_right<float>(251, "25.10 t10 l16 c x b", 39);
  expect_line_right<float>(509, "32.32 t32 l2 e32");
  expect_line_right<float>(509, "30.36 t36 l1 e30");
}

TEST_F(DenseKernelsCuda, NeighbouringThreadsMayHoldNeighbouringLines) {
  expect_line_right<float>(60, "6.10 t6 l16 c x", 39);
  expect_line_right<double>(60, "10.6 t10 l8 m c x", 39);
  expect_line_right<float>(127, "16.16 t16 l16 p1 c x", 39);  // Bluestein's
  const Named<float> rows(Shape({30, 84}), true, 3);
  rows.expect_forward_right<float>(
      rows.plan("once 0 streams 1 blocks 1 chunk 16 split - | 6.5 t5 l8 m | 6.7 t7 l16 x"));
}

TEST_F(DenseKernelsCuda, BlocksOfAMultiprocessorMayBeLimited) {
  const Named<float> named(Shape(240), false, 1000);
  const detail::cuda::DeviceInfo device = detail::cuda::device_info(0);
  const auto resident = [&](const std::string& limit) {
    const std::string kernel = "once 0 streams 1 blocks 1 chunk 16 split - | 15.16 t16 l4" + limit;
    named.expect_forward_right<std::complex<float>>(named.plan(kernel));
    auto program =
        lay_out({named.problem(), true, false, ElementType::c64}, *detail::tuned::parse_choice(kernel));
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
    EXPECT_EQ(resident(fmt::format(" r{}", limit)), limit);
  EXPECT_EQ(resident(" r32"), most);
}

/// Copied and transformed by parts: several of the columns, or all, and several planes, the last ones
/// shorter.
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
  for (int call = 0; call < 2; ++call) {  // the second one with the memory of the first
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
      "once 4 streams 3 blocks 1 chunk 16 split - | 10.9 t10 l16 m | 16.10 t16 l16 m | 16.20 t20 l4", 16);
  expect_phases_right(
      "once 0 streams 1 blocks 1 chunk 16 split 20.8 | 20.16.20 t320 l1 e20 | 10.9.8 t90 l8 m", 160 * 320);
}

TEST_F(DenseKernelsCuda, BytesMayHaveKernelsOfTheirOwn) {
  const Named<float> named(Shape({40, 48}), true, 3);
  Choices choices{named.by_rules(), std::nullopt};
  choices.bytes = choices.own;
  choices.bytes->at_once = 2;  // scratch memory of another size, too
  const auto plan = named.plan(to_text(choices));
  named.expect_forward_right<std::uint8_t>(plan);
  named.expect_forward_right<std::uint16_t>(plan);
  named.expect_forward_right<float>(plan);
}

}  // namespace
}  // namespace sfft
