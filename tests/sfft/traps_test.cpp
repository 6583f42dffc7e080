// SPDX-License-Identifier: Apache-2.0
// Tests that easy mistakes with the API are reported as errors: shared workspaces, moved-from objects, shapes
// too large for any memory, and values that are no enumerators.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>

#include "bench/known_signals.hpp"
#include "kernels/runtime/exclusive.hpp"
#include "sfft/plan/plan_impl.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/throws.hpp"

namespace sfft::traps_test {
namespace {

using test::code_of;
using test::SparseSignal;

const Shape kShape{64, 96};

struct Fixture {
  SparseSignal signal = SparseSignal::random(kShape, true, 12, 3);
  std::vector<float> x = signal.as<float>();
  Template tmpl = Template::from_support(kShape, Domain::real, signal.support);
  Plan<float> plan{tmpl};
  SignalView frame{x, kShape};
};

TEST(Workspace, InUseThrowsAndStaysUsable) {
  const Fixture f;
  auto workspace = f.plan.make_workspace();
  Spectrum<float> spectrum;
  {
    const detail::Exclusive other(detail::inside(workspace).in_use, "held by the test");
    EXPECT_EQ(code_of([&] { f.plan.execute(f.frame, spectrum, workspace); }), ErrorCode::in_use);
    EXPECT_EQ(spectrum.support, nullptr) << "nothing is written";
  }
  EXPECT_EQ(code_of([&] { f.plan.execute(f.frame, spectrum, workspace); }), std::nullopt);
  EXPECT_EQ(spectrum.values, f.plan.execute(f.frame).values);
  // A failed call releases the workspace.
  EXPECT_EQ(code_of([&] { f.plan.execute(SignalView::line(f.x), spectrum, workspace); }),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([&] { f.plan.execute(f.frame, spectrum, workspace); }), std::nullopt);
}

TEST(Workspace, OfTwoThreadsGivesRightResultsOrThrows) {
  const Fixture f;
  const auto expected = f.plan.execute(f.frame).values;
  std::vector<float> other = f.x;
  for (float& sample : other) sample *= 3;
  const auto expected_other = f.plan.execute(SignalView(other, kShape)).values;
  auto shared = f.plan.make_workspace();
  std::atomic<int> wrong{0}, done{0}, refused{0};
  const auto run = [&](const std::vector<float>& x, const std::vector<std::complex<float>>& truth) {
    Spectrum<float> spectrum = f.plan.make_spectrum();
    for (int i = 0; i < 2000; ++i) {
      const auto code = code_of([&] { f.plan.execute(SignalView(x, kShape), spectrum, shared); });
      if (code) {
        *code == ErrorCode::in_use ? ++refused : ++wrong;
      } else {
        ++done;
        if (spectrum.values != truth) ++wrong;
      }
    }
  };
  std::thread first([&] { run(f.x, expected); }), second([&] { run(other, expected_other); });
  first.join();
  second.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(done + refused, 4000);
  EXPECT_GE(done, 1);
}

TEST(Tracker, OfTwoThreadsCountsEveryFrameOrThrows) {
  const Fixture f;
  Tracker<float> tracker(f.tmpl, {.reference = false});
  std::atomic<int> wrong{0}, done{0};
  const auto run = [&] {
    for (int i = 0; i < 500; ++i) {
      const auto code = code_of([&] { tracker.push(f.frame); });
      if (!code) ++done;
      if (code && *code != ErrorCode::in_use) ++wrong;
    }
  };
  std::thread first(run), second(run);
  first.join();
  second.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(tracker.push(f.frame).index, done);
}

TEST(Moved, WorkspacesThrow) {
  const Fixture f;
  auto workspace = f.plan.make_workspace();
  auto other = std::move(workspace);
  Spectrum<float> spectrum;
  EXPECT_EQ(code_of([&] { f.plan.execute(f.frame, spectrum, workspace); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(detail::inside(workspace)); }), ErrorCode::invalid_argument);
  EXPECT_EQ(workspace.host_bytes(), 0u);
  EXPECT_EQ(workspace.device_bytes(), 0u);
  EXPECT_TRUE(workspace.host().empty());
  EXPECT_EQ(code_of([&] { f.plan.execute(f.frame, spectrum, other); }), std::nullopt);
  workspace = f.plan.make_workspace();  // and is usable again
  EXPECT_EQ(code_of([&] { f.plan.execute(f.frame, spectrum, workspace); }), std::nullopt);
}

TEST(Moved, TrackersThrow) {
  const Fixture f;
  Tracker<float> tracker(f.tmpl);
  Tracker<float> other = std::move(tracker);
  EXPECT_EQ(code_of([&] { tracker.push(f.frame); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { tracker.plan(); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { tracker.current_template(); }), ErrorCode::invalid_argument);
  EXPECT_EQ(tracker.refreshed() + tracker.relearned() + tracker.dense_fallbacks(), 0);
  EXPECT_EQ(code_of([&] { other.push(f.frame); }), std::nullopt);
}

TEST(Moved, PlansAndTemplatesStayWhatTheyWere) {
  Fixture f;
  const Plan<float> plan = std::move(f.plan);
  EXPECT_EQ(f.plan.execute(f.frame).values, plan.execute(f.frame).values);
  EXPECT_EQ(f.plan.explain(), plan.explain());
  EXPECT_EQ(f.plan.source().k(), 12);
  const Template tmpl = std::move(f.tmpl);
  EXPECT_EQ(f.tmpl.k(), tmpl.k());
  EXPECT_EQ(f.tmpl.support().data(), tmpl.support().data());
  static_assert(std::is_nothrow_move_constructible_v<Plan<float>> &&
                std::is_nothrow_move_assignable_v<Template>);

  dense::Plan<float> dense(kShape, Domain::real);
  const dense::Plan<float> other = std::move(dense);
  std::vector<std::complex<float>> a(dense.spectrum_points()), b(other.spectrum_points());
  dense.forward(f.frame, a);
  other.forward(f.frame, b);
  EXPECT_EQ(a, b);

  auto selective = dense::SelectivePlan<float>::above(kShape, Domain::real);
  const auto kept = std::move(selective);
  EXPECT_EQ(selective.forward_above(f.x.data(), ElementType::f32, 1.0f).indices,
            kept.forward_above(f.x.data(), ElementType::f32, 1.0f).indices);
}

TEST(Moved, SpectraAreFilledAgain) {
  const Fixture f;
  Spectrum<float> spectrum = f.plan.make_spectrum();
  const Spectrum<float> other = std::move(spectrum);
  auto workspace = f.plan.make_workspace();
  f.plan.execute(f.frame, spectrum, workspace);
  EXPECT_EQ(*spectrum.support, f.signal.support);
}

/// Shapes whose arrays are too large for any machine, and one whose tables are too large for this machine.
TEST(HugeShapes, AreRefusedBeforePlanning) {
  const std::vector<std::int64_t> support{1, 5, 77};
  const std::int64_t max = (std::int64_t{1} << 61) - 1;
  for (const Shape& shape : {Shape(max), Shape(max + 1), Shape(std::int64_t{1} << 60),
                             Shape{1 << 20, 1 << 20, 1 << 20}, Shape{std::int64_t{1} << 31, 1 << 30}}) {
    for (const bool real : {false, true}) {
      const std::string what = shape.to_string() + (real ? " real" : " complex");
      EXPECT_EQ(code_of([&] { dense::Plan<float>(shape, real ? Domain::real : Domain::complex); }),
                ErrorCode::size_overflow)
          << what;
      EXPECT_EQ(
          code_of([&] { dense::SelectivePlan<float>::above(shape, real ? Domain::real : Domain::complex); }),
          ErrorCode::size_overflow);
      EXPECT_EQ(code_of([&] {
                  dense::SelectivePlan<double>::at(shape, real ? Domain::real : Domain::complex, support);
                }),
                ErrorCode::size_overflow);
      const Template tmpl = Template::from_support(shape, real ? Domain::real : Domain::complex, support);
      for (const Path path : {Path::comb, Path::flat_window, Path::direct, Path::dense}) {
        const auto code = code_of([&] { Plan<float>(tmpl, {.path = path}); });
        EXPECT_TRUE(code == std::nullopt || code == ErrorCode::not_sparse || code == ErrorCode::size_overflow)
            << what << " by " << to_string(path);
      }
      EXPECT_EQ(code_of([&] { Plan<float>{tmpl}; }), std::nullopt)
          << what << ": a sparse plan needs no array";
    }
  }
  EXPECT_EQ(code_of([] { dense::Plan<double>(Shape(std::int64_t{1} << 42), Domain::complex); }),
            ErrorCode::out_of_memory);
  EXPECT_EQ(code_of([] { dense::Plan<float>(Shape{64}, Domain::complex, {.batch = std::int64_t{1} << 50}); }),
            ErrorCode::size_overflow);
}

TEST(Enumerations, OtherValuesAreRefused) {
  const Fixture f;
  const auto unknown = []<class Enum>(Enum) { return static_cast<Enum>(9); };
  const std::vector<std::pair<const char*, dense::Options>> dense_options{
      {"engine", {.engine = unknown(dense::Engine{})}},
      {"planning", {.planning = unknown(dense::Options::Planning{})}},
      {"normalization", {.normalization = unknown(dense::Options::Normalization{})}},
      {"exchange", {.exchange = unknown(dense::Storage{})}}};
  for (const auto& [name, options] : dense_options) {
    EXPECT_EQ(code_of([&, &given = options] { dense::Plan<float>(kShape, Domain::real, given); }),
              ErrorCode::invalid_argument)
        << name;
  }
  const std::vector<std::pair<const char*, PlanOptions>> plan_options{
      {"path", {.path = unknown(Path{})}},
      {"witness", {.witness = unknown(PlanOptions::Witness{})}},
      {"effort", {.effort = unknown(PlanEffort{})}},
      {"transfer", {.transfer = unknown(PlanOptions::Transfer{})}},
      {"compiled_for", {.compiled_for = unknown(ElementType{})}}};
  for (const auto& [name, options] : plan_options) {
    EXPECT_EQ(code_of([&, &given = options] { Plan<float>(f.tmpl, given); }), ErrorCode::invalid_argument)
        << name;
  }
  const std::vector<std::pair<const char*, LearnOptions>> learn_options{
      {"method", {.keep = Largest{4}, .method = unknown(LearnOptions::Method{})}}};
  for (const auto& [name, options] : learn_options) {
    EXPECT_EQ(code_of([&, &given = options] { learn(f.frame, given); }), ErrorCode::invalid_argument) << name;
  }
  const std::vector<std::pair<const char*, DiscoverOptions>> discover_options{
      {"path", {.path = unknown(Path{})}}, {"check", {.check = unknown(DiscoverOptions::Check{})}}};
  for (const auto& [name, options] : discover_options) {
    EXPECT_EQ(code_of([&, &given = options] { discover(f.frame, given); }), ErrorCode::invalid_argument)
        << name;
  }
}

}  // namespace
}  // namespace sfft::traps_test
