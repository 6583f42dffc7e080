// SPDX-License-Identifier: Apache-2.0
// Tests the tuned engine's device code on the CPU: generated kernels, compiled by the host's compiler,
// against the built-in engine in double. SFFT_TEST_LENGTH_STEP=1 tests every length from 1 to 4096 in half an
// hour.
#include <gtest/gtest.h>

#include <utility>

#include "sfft/dense.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/tuned_emulator.hpp"

namespace sfft::test::tuned_emulation_test {
namespace {

using detail::DenseProblem;
using detail::tuned::KernelPolicy;
using detail::tuned::Program;
using detail::tuned::TransformPolicy;

struct Case {
  DenseProblem problem;
  TransformPolicy policy;
  bool single = true;
  ElementType element = ElementType::f32;
};

/// The programs that a case executes, forward and inverse.
struct Programs {
  Program forward, inverse;
};

std::vector<std::string> sources_of(const Programs& programs, bool single) {
  std::vector<std::string> sources;
  for (const Program* program : {&programs.forward, &programs.inverse}) {
    for (const auto& kernel : program->kernels) sources.push_back(source_of(kernel, single));
  }
  return sources;
}

template <class Real, class T>
void expect_right(const Case& c, const Programs& programs, const EmulatedKernels& kernels,
                  std::size_t first) {
  using Value = std::complex<Real>;
  const DenseProblem& problem = c.problem;
  const auto points = static_cast<std::size_t>(problem.batch * problem.shape.points());
  const auto values = static_cast<std::size_t>(problem.batch * problem.spectrum_points());
  ComplexSignal noise = random_signal(points, 5);
  if (problem.real) {
    for (auto& value : noise) value = std::abs(50 * value.real());
  }
  const auto x = as_samples<T>(noise);
  std::vector<std::complex<double>> expected(values);
  dense::Plan<double>(problem.shape, problem.real ? Domain::real : Domain::complex,
                      {.engine = dense::Engine::built_in, .batch = problem.batch})
      .forward(x.data(), element_type_of<T>::value, expected);

  constexpr std::size_t kBeyond = 64;  // elements after an array that must not be written
  const Value poison(-77, 77);
  const auto values_of = [&](std::size_t count) { return std::vector<Value>(count + kBeyond, poison); };
  std::vector<Value> spectra = values_of(values),
                     scratch = values_of(static_cast<std::size_t>(
                         std::max(programs.forward.scratch_values, programs.inverse.scratch_values)));
  const auto batch = static_cast<std::size_t>(problem.batch);
  const std::size_t signal_bytes = points / batch * sizeof(T),
                    spectrum_bytes = values / batch * sizeof(Value);
  detail::tuned::Tables tables(c.single, copy_to_host);
  emulate(programs.forward, kernels, first, tables,
          {x.data(), spectra.data(), scratch.data(), 1, problem.batch, signal_bytes, spectrum_bytes});
  const auto untouched = [&](const auto& array, std::size_t count) {
    return std::all_of(array.begin() + static_cast<std::ptrdiff_t>(count), array.end(),
                       [&](const auto& value) { return value == poison; });
  };
  EXPECT_TRUE(untouched(spectra, values));
  EXPECT_TRUE(untouched(scratch, scratch.size() - kBeyond));
  std::vector<std::complex<double>> result(spectra.begin(),
                                           spectra.begin() + static_cast<std::ptrdiff_t>(values));
  const double bound = 3e1 * std::numeric_limits<Real>::epsilon();
  EXPECT_LE(relative_l2(result, expected), bound);

  // Any half spectrum has a real signal, so the inverse gets one without the symmetry of a spectrum.
  std::vector<std::complex<double>> there;
  for (const T& value : x) there.push_back(static_cast<std::complex<double>>(value));
  if (problem.real) {
    const ComplexSignal half = random_signal(values, 6);
    std::vector<double> signal(points);
    dense::Plan<double>(problem.shape, Domain::real,
                        {.engine = dense::Engine::built_in, .batch = problem.batch})
        .inverse(half, std::span<double>(signal));
    std::copy(half.begin(), half.end(), spectra.begin());
    there.assign(signal.begin(), signal.end());
  }
  using Signal = std::conditional_t<std::is_same_v<T, Value>, Value, Real>;
  std::vector<Signal> back(points + kBeyond, Signal(-77));
  emulate(programs.inverse, kernels, first + programs.forward.kernels.size(), tables,
          {spectra.data(), back.data(), scratch.data(), 1.0 / static_cast<double>(problem.shape.points()),
           problem.batch, spectrum_bytes, signal_bytes});
  EXPECT_TRUE(std::all_of(back.begin() + static_cast<std::ptrdiff_t>(points), back.end(),
                          [](const Signal& value) { return value == Signal(-77); }));
  std::vector<std::complex<double>> again(back.begin(), back.begin() + static_cast<std::ptrdiff_t>(points));
  EXPECT_LE(relative_l2(again, there), 2 * bound);
}

void run(const Case& c, const Programs& programs, const EmulatedKernels& kernels, std::size_t first) {
  SCOPED_TRACE(c.problem.shape.to_string() + ": " + to_text(c.policy));
  if (!c.problem.real) {
    c.single ? expect_right<float, std::complex<float>>(c, programs, kernels, first)
             : expect_right<double, std::complex<double>>(c, programs, kernels, first);
  } else if (c.element == ElementType::u8) {
    expect_right<float, std::uint8_t>(c, programs, kernels, first);
  } else {
    c.single ? expect_right<float, float>(c, programs, kernels, first)
             : expect_right<double, double>(c, programs, kernels, first);
  }
}

/// Compiles a few cases at a time on all cores and checks them.
void expect_right(const std::vector<Case>& cases) {
  constexpr std::size_t kAtOnce = 8;
  struct Part {
    std::vector<Programs> programs;
    std::unique_ptr<EmulatedKernels> kernels;
    std::string failure;
  };
  const ScratchFolder folder;  // must outlive the libraries in it
  std::vector<Part> parts((cases.size() + kAtOnce - 1) / kAtOnce);
  std::atomic<std::size_t> next{0};
  const auto compile = [&] {
    for (std::size_t p = next++; p < parts.size(); p = next++) {
      try {
        std::vector<std::string> sources;
        for (std::size_t i = p * kAtOnce; i < std::min(cases.size(), (p + 1) * kAtOnce); ++i) {
          const Case& c = cases[i];
          const ElementType own = c.single ? ElementType::f32 : ElementType::f64;
          parts[p].programs.push_back({lay_out({c.problem, c.single, false, c.element}, c.policy),
                                       lay_out({c.problem, c.single, true, own}, c.policy)});
          const auto more = sources_of(parts[p].programs.back(), c.single);
          sources.insert(sources.end(), more.begin(), more.end());
        }
        parts[p].kernels = std::make_unique<EmulatedKernels>(sources, folder.path(), std::to_string(p));
      } catch (const std::exception& error) {
        parts[p].failure = error.what();
      }
    }
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    helpers.emplace_back(compile);
  compile();
  for (std::thread& helper : helpers) helper.join();
  for (std::size_t p = 0; p < parts.size(); ++p) {
    ASSERT_EQ(parts[p].failure, "");
    std::size_t first = 0;
    for (std::size_t i = 0; i < parts[p].programs.size(); ++i) {
      const Programs& programs = parts[p].programs[i];
      run(cases[p * kAtOnce + i], programs, *parts[p].kernels, first);
      first += programs.forward.kernels.size() + programs.inverse.kernels.size();
    }
  }
}

Case by_rules(const Shape& shape, bool real, std::int64_t batch, bool single = true,
              ElementType element = ElementType::f32, const std::vector<int>& factors = {}, int groups = 0) {
  const DenseProblem problem = dense_problem(shape, real, batch);
  TransformPolicy policy = rule_policy(problem, single, factors);
  policy.alternating_groups = groups;
  return {problem, policy, single, element};
}

Case in_place(Case c) {
  c.policy.ring_buffer = false;
  for (KernelPolicy& kernel : c.policy.kernels) kernel.prefetch_distance = 25;
  return c;
}

Case named(const Shape& shape, bool real, std::int64_t batch, const std::string& kernels,
           ElementType element = ElementType::f32, const std::string& factors = "") {
  return {dense_problem(shape, real, batch),
          *detail::tuned::parse_policy((factors.empty() ? "" : "factors=" + factors + " ") + kernels), true,
          element};
}

Case volume(const Shape& shape, std::int64_t batch, const std::string& factors, const std::string& kernels) {
  return named(shape, false, batch, kernels, ElementType::f32, factors);
}

TEST(TunedEmulation, LinesOfManyLengths) {
  const char* text = std::getenv("SFFT_TEST_LENGTH_STEP");
  const std::int64_t step = text == nullptr ? 173 : std::max(1ll, std::atoll(text));
  std::vector<Case> cases;
  for (std::int64_t n = 1; n <= 4096; n += step) {
    if (n > 1) cases.push_back(by_rules(Shape(n), false, 3));
    if (cases.size() < 64 && n + step <= 4096) continue;
    expect_right(std::exchange(cases, {}));
  }
}

TEST(TunedEmulation, LinesAsWisdomNamesThem) {
  expect_right(
      {named(Shape(60), false, 39,
             "kernel radices=4.15 threads_per_transform=5 transforms_per_block=6 pad_interval=4 "
             "max_blocks_per_multiprocessor=18"),
       named(Shape(60), false, 39,
             "kernel radices=6.10 threads_per_transform=6 transforms_per_block=16 staged=1 "
             "interleaved_threads=1"),
       named(Shape(127), false, 39,
             "kernel radices=18.7 threads_per_transform=7 transforms_per_block=32 staged=1 "
             "interleaved_threads=1"),
       named(Shape(127), false, 39,
             "kernel radices=16.16 threads_per_transform=16 transforms_per_block=5 staged=1 pad=1"),
       named(Shape(127), false, 39,
             "kernel radices=18.7 threads_per_transform=7 transforms_per_block=9 staged=1"),
       named(Shape(127), false, 9,
             "kernel radices=2.7.9 threads_per_transform=14 transforms_per_block=4 staged=1"),
       named(Shape(67), false, 50,
             "kernel radices=11.6 threads_per_transform=6 transforms_per_block=42 staged=1"),
       named(Shape(1021), false, 3,
             "kernel radices=4.15.17 threads_per_transform=60 transforms_per_block=2 staged=1"),
       named(Shape(251), false, 39,
             "kernel radices=25.10 threads_per_transform=10 transforms_per_block=16 interleaved_shared=1 "
             "staged=1 interleaved_threads=1"),
       named(Shape(500), false, 7,
             "kernel radices=20.25 threads_per_transform=20 transforms_per_block=3 pad_interval=20 pad=1"),
       named(Shape(509), false, 3, "kernel radices=32.32 threads_per_transform=32 pad_interval=32"),
       named(Shape(640), false, 3,
             "kernel radices=4.8.20 threads_per_transform=32 twiddles=table pad_interval=4"),
       named(Shape(1021), false, 2, "kernel radices=5.12.17 threads_per_transform=85 staged=1"),
       named(Shape(1021), true, 2, "kernel radices=3.20.17 threads_per_transform=60 staged=1"),
       named(Shape(122), true, 3, "kernel radices=4.15 threads_per_transform=5 staged=1"),
       named(Shape(122), true, 3,
             "kernel radices=4.15 threads_per_transform=5 transforms_per_block=2 staged=1"),
       named(Shape(1000), false, 3,
             "kernel radices=10.10.10 threads_per_transform=100 twiddles=two_roots pad_interval=10 pad=1"),
       named(Shape(4096), false, 3,
             "kernel radices=16.16.16 threads_per_transform=256 half_shared=1 prefetch_distance=12"),
       named(Shape(96), false, 9,
             "kernel radices=8.12 threads_per_transform=12 transforms_per_block=2 prefetch_distance=25 "
             "early_prefetch=1"),
       named(Shape(5000), false, 1, "kernel radices=25.8.25 threads_per_transform=209 streaming=1")});
}

TEST(TunedEmulation, LinesOfEveryKind) {
  expect_right({by_rules(Shape(2), false, 5), by_rules(Shape(96), true, 5), by_rules(Shape(97), true, 5),
                by_rules(Shape(1018), true, 3), by_rules(Shape(360), false, 5, false),
                by_rules(Shape(254), true, 5, false, ElementType::f64), by_rules(Shape(254), true, 5),
                by_rules(Shape(254), true, 9), by_rules(Shape(46), true, 5),
                by_rules(Shape(37), false, 50, false),
                by_rules(Shape(48 * 40), false, 2, true, ElementType::f32, {48, 40}),
                by_rules(Shape(48 * 40), false, 2, true, ElementType::f32, {48, 40}, 1),
                by_rules(Shape(32 * 20 * 24), false, 2, true, ElementType::f32, {32, 20, 24}),
                by_rules(Shape(32 * 20 * 24), false, 1, true, ElementType::f32, {32, 20, 24}, 1),
                in_place(by_rules(Shape(32 * 20 * 24), false, 2, true, ElementType::f32, {32, 20, 24}, 1))});
}

TEST(TunedEmulation, FramesAndVolumes) {
  expect_right(
      {by_rules(Shape({30, 64}), true, 3, true, ElementType::u8),
       by_rules(Shape({33, 40}), true, 2, true, ElementType::u8, {}, 1), by_rules(Shape({32, 25}), true, 3),
       by_rules(Shape({18, 44}), true, 2, false, ElementType::f64), by_rules(Shape({24, 36}), false, 2),
       by_rules(Shape({9, 31}), false, 2), by_rules(Shape({20, 24, 32}), false, 1),
       by_rules(Shape({12, 10, 16}), false, 2, true, ElementType::f32, {}, 3),
       in_place(by_rules(Shape({12, 10, 16}), false, 2, true, ElementType::f32, {}, 3)),
       in_place(by_rules(Shape({9, 32}), false, 5, true, ElementType::f32, {}, 2)),
       by_rules(Shape({6, 10, 18}), true, 2), by_rules(Shape({5, 7, 9}), true, 2),
       named(Shape({24, 80}), true, 5,
             "kernel radices=4.6 threads_per_transform=6 transforms_per_block=16 interleaved_shared=1 "
             "double_buffered=1 kernel radices=5.8 threads_per_transform=8 transforms_per_block=4",
             ElementType::u8),
       named(Shape({24, 80}), true, 5,
             "kernel radices=4.6 threads_per_transform=4 transforms_per_block=6 interleaved_shared=1 "
             "double_buffered=1 kernel radices=5.8 threads_per_transform=8 transforms_per_block=16 "
             "interleaved_threads=1"),
       named(Shape({24, 80}), true, 5,
             "kernel radices=4.6 threads_per_transform=4 transforms_per_block=6 interleaved_shared=1 "
             "prefetch_distance=25 kernel radices=5.8 threads_per_transform=8 transforms_per_block=16 "
             "prefetch_distance=12",
             ElementType::u8)});
}

TEST(TunedEmulation, VolumesInTwoSteps) {
  Case exact = volume(Shape({16, 32, 16}), 1, "8.4",
                      "kernel radices=8.16 threads_per_transform=16 pad_interval=16 kernel radices=16.4 "
                      "threads_per_transform=16 transforms_per_block=4 interleaved_shared=1");
  exact.single = false;
  expect_right(
      {exact,
       volume(Shape({16, 32, 16}), 2, "8.4",
              "kernel radices=8.4.4 threads_per_transform=32 pad_interval=16 pad=1 prefetch_distance=25 "
              "kernel radices=4.4.4 threads_per_transform=8 transforms_per_block=8 interleaved_shared=1 "
              "prefetch_distance=50"),
       volume(Shape({16, 32, 16}), 1, "4.8",
              "kernel radices=4.2.8 threads_per_transform=8 transforms_per_block=4 multiprocessor_delay=800 "
              "kernel radices=16.2.4 threads_per_transform=16 transforms_per_block=16 interleaved_shared=1 "
              "twiddles=table pad_interval=2"),
       // These have digits that carry, and idle threads.
       volume(Shape({15, 12, 20}), 2, "4.3",
              "kernel radices=4.5.4 threads_per_transform=20 kernel radices=5.3.3 threads_per_transform=15 "
              "transforms_per_block=4 interleaved_shared=1 multiprocessor_delay=800"),
       volume(Shape({15, 12, 20}), 1, "2.6",
              "kernel radices=2.4.5 threads_per_transform=20 transforms_per_block=2 prefetch_distance=25 "
              "multiprocessor_delay=800 kernel radices=15.6 threads_per_transform=4 transforms_per_block=20 "
              "prefetch_distance=25"),
       volume(Shape({12, 18, 30}), 1, "6.3",
              "kernel radices=6.30 threads_per_transform=18 early_prefetch=1 kernel radices=12.3 "
              "threads_per_transform=12 transforms_per_block=6 twiddles=two_roots"),
       volume(Shape({12, 18, 30}), 1, "6.3",
              "kernel radices=3.2.6.5 threads_per_transform=27 transforms_per_block=3 kernel radices=4.3.3 "
              "threads_per_transform=36 transforms_per_block=5 half_shared=1")});
}

}  // namespace
}  // namespace sfft::test::tuned_emulation_test
