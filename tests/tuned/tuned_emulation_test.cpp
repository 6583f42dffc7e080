// SPDX-License-Identifier: Apache-2.0
// The tuned engine's device code on the CPU: generated kernels, compiled by the host's compiler, against the
// built-in engine in double. SFFT_TEST_LENGTH_STEP=1 takes every length from 1 to 4096, which takes half an
// hour.
#include <gtest/gtest.h>

#include <utility>

#include "sfft/dense.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/tuned_emulator.hpp"

namespace sfft::test {
namespace {

using detail::DenseProblem;
using detail::tuned::Choice;
using detail::tuned::LineChoice;
using detail::tuned::Program;

struct Case {
  DenseProblem problem;
  Choice choice;
  bool single = true;
  ElementType element = ElementType::f32;
};

/// What a case executes, forward and inverse.
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
  dense::Plan<double>(problem.shape, problem.real,
                      {.engine = dense::Engine::built_in, .batch = problem.batch})
      .forward(x.data(), element_type_of<T>::value, expected);

  constexpr std::size_t kBeyond = 64;  // places behind an array that nothing may be written to
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

  using Signal = std::conditional_t<std::is_same_v<T, Value>, Value, Real>;
  std::vector<Signal> back(points + kBeyond, Signal(-77));
  emulate(programs.inverse, kernels, first + programs.forward.kernels.size(), tables,
          {spectra.data(), back.data(), scratch.data(), 1.0 / static_cast<double>(problem.shape.points()),
           problem.batch, spectrum_bytes, signal_bytes});
  EXPECT_TRUE(std::all_of(back.begin() + static_cast<std::ptrdiff_t>(points), back.end(),
                          [](const Signal& value) { return value == Signal(-77); }));
  std::vector<std::complex<double>> there(x.size()), again(x.size());
  for (std::size_t i = 0; i < points; ++i) {
    there[i] = static_cast<std::complex<double>>(x[i]);
    again[i] = static_cast<std::complex<double>>(back[i]);
  }
  EXPECT_LE(relative_l2(again, there), 2 * bound);
}

void run(const Case& c, const Programs& programs, const EmulatedKernels& kernels, std::size_t first) {
  SCOPED_TRACE(c.problem.shape.to_string() + ": " + to_text(c.choice));
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

/// Compiles some cases at a time, on all cores.
void expect_right(const std::vector<Case>& cases) {
  constexpr std::size_t kAtOnce = 8;
  struct Part {
    std::vector<Programs> programs;
    std::unique_ptr<EmulatedKernels> kernels;
    std::string failure;
  };
  const ScratchFolder folder;  // outlives the libraries in it
  std::vector<Part> parts((cases.size() + kAtOnce - 1) / kAtOnce);
  std::atomic<std::size_t> next{0};
  const auto compile = [&] {
    for (std::size_t p = next++; p < parts.size(); p = next++) {
      try {
        std::vector<std::string> sources;
        for (std::size_t i = p * kAtOnce; i < std::min(cases.size(), (p + 1) * kAtOnce); ++i) {
          const Case& c = cases[i];
          const ElementType own = c.single ? ElementType::f32 : ElementType::f64;
          parts[p].programs.push_back({lay_out({c.problem, c.single, false, c.element}, c.choice),
                                       lay_out({c.problem, c.single, true, own}, c.choice)});
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
              ElementType element = ElementType::f32, const std::vector<int>& split = {}, int at_once = 0) {
  const DenseProblem problem = dense_problem(shape, real, batch);
  Choice choice = rule_choice(problem, single, split);
  choice.at_once = at_once;
  return {problem, choice, single, element};
}

Case in_place(Case c) {
  c.choice.ring = false;
  for (LineChoice& line : c.choice.lines) line.distance = 25;
  return c;
}

Case named(const Shape& shape, bool real, std::int64_t batch, const std::string& lines,
           ElementType element = ElementType::f32, const std::string& split = "-") {
  return {dense_problem(shape, real, batch),
          *detail::tuned::parse_choice("once 0 streams 1 blocks 1 chunk 16 split " + split + " | " + lines),
          true, element};
}

Case volume(const Shape& shape, std::int64_t batch, const std::string& split, const std::string& lines) {
  return named(shape, false, batch, lines, ElementType::f32, split);
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
  expect_right({named(Shape(60), false, 39, "4.15 t5 l6 e4 r18"),
                named(Shape(60), false, 39, "6.10 t6 l16 c x"),
                named(Shape(127), false, 39, "18.7 t7 l32 c x"),
                named(Shape(127), false, 39, "16.16 t16 l5 p1 c"),
                named(Shape(127), false, 39, "18.7 t7 l9 c"),
                named(Shape(127), false, 9, "2.7.9 t14 l4 c"),
                named(Shape(67), false, 50, "11.6 t6 l42 c"),
                named(Shape(1021), false, 3, "4.15.17 t60 l2 c"),
                named(Shape(251), false, 39, "25.10 t10 l16 m c x"),
                named(Shape(500), false, 7, "20.25 t20 l3 e20 p1"),
                named(Shape(509), false, 3, "32.32 t32 l1 e32"),
                named(Shape(640), false, 3, "4.8.20 t32 l1 e4 w"),
                named(Shape(1021), false, 2, "5.12.17 t85 l1 c"),
                named(Shape(1021), true, 2, "3.20.17 t60 l1 c"),
                named(Shape(122), true, 3, "4.15 t5 l1 c"),
                named(Shape(122), true, 3, "4.15 t5 l2 c"),
                named(Shape(1000), false, 3, "10.10.10 t100 l1 e10 p1 a"),
                named(Shape(4096), false, 3, "16.16.16 t256 l1 s d12"),
                named(Shape(96), false, 9, "8.12 t12 l2 d25 b"),
                named(Shape(5000), false, 1, "25.8.25 t209 l1 o")});
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
       named(Shape({24, 80}), true, 5, "4.6 t6 l16 m q | 5.8 t8 l4", ElementType::u8),
       named(Shape({24, 80}), true, 5, "4.6 t4 l6 m q | 5.8 t8 l16 x"),
       named(Shape({24, 80}), true, 5, "4.6 t4 l6 m d25 | 5.8 t8 l16 d12", ElementType::u8)});
}

TEST(TunedEmulation, VolumesInTwoSteps) {
  Case exact = volume(Shape({16, 32, 16}), 1, "8.4", "8.16 t16 l1 e16 | 16.4 t16 l4 m");
  exact.single = false;
  expect_right({exact, volume(Shape({16, 32, 16}), 2, "8.4", "8.4.4 t32 l1 e16 p1 d25 | 4.4.4 t8 l8 m d50"),
                volume(Shape({16, 32, 16}), 1, "4.8", "4.2.8 t8 l4 v800 | 16.2.4 t16 l16 m e2 w"),
                // Digits that carry, and idle threads.
                volume(Shape({15, 12, 20}), 2, "4.3", "4.5.4 t20 l1 | 5.3.3 t15 l4 m v800"),
                volume(Shape({15, 12, 20}), 1, "2.6", "2.4.5 t20 l2 d25 v800 | 15.6 t4 l20 d25"),
                volume(Shape({12, 18, 30}), 1, "6.3", "6.30 t18 l1 b | 12.3 t12 l6 a"),
                volume(Shape({12, 18, 30}), 1, "6.3", "3.2.6.5 t27 l3 | 4.3.3 t36 l5 s")});
}

}  // namespace
}  // namespace sfft::test
