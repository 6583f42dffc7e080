// SPDX-License-Identifier: Apache-2.0
// Tests plans that start from a template file. They give the same spectra as the kept plan, which direct sums
// confirm, and are planned again with a reason if the request differs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <optional>

#include "bench/known_signals.hpp"
#include "sfft/error.hpp"
#include "sfft/plan/kept.hpp"
#include "sfft/sfft.hpp"
#include "sfft/template_access.hpp"
#include "tests/support/kept_plans.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::kept_plan_test {
namespace {

using test::SparseSignal;

/// Saves the plan with its template and returns the one that starts from the file.
template <class Real>
Plan<Real> through_a_file(const Plan<Real>& plan, const PlanOptions& options) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("sfft-kept-" + std::to_string(::getpid()))).string();
  plan.keep_in(plan.source()).save(path);
  const Template loaded = Template::load(path);
  std::filesystem::remove(path);
  EXPECT_EQ(loaded.kept_plans().size(), 1u);
  EXPECT_EQ(loaded.kept_plans_problem(), "");
  return Plan<Real>(loaded, options);
}

/// Keeps the plan, starts from it and compares. Returns the kept plan's spectrum of `frame`.
template <class Real, class Sample>
Spectrum<Real> expect_round_trip(const Template& tmpl, const PlanOptions& options,
                                 const std::vector<Sample>& frame) {
  const Plan<Real> plan(tmpl, options);
  EXPECT_FALSE(plan.info().kept);
  EXPECT_EQ(plan.info().kept_note, "") << "no plan was kept";
  const Plan<Real> again = through_a_file(plan, options);
  EXPECT_TRUE(again.info().kept) << again.explain();
  EXPECT_EQ(again.info().kept_note, "");
  test::expect_same_plan(again.info(), plan.info());
  const Spectrum<Real> spectrum = again.execute(SignalView(frame, tmpl.shape()));
  test::expect_same_bits(spectrum, plan.execute(SignalView(frame, tmpl.shape())));
  return spectrum;
}

template <class Real>
void expect_sparse_round_trips() {
  const double bound = sizeof(Real) == sizeof(float) ? 2e-5 : 1e-12;
  struct Case {
    Shape shape;
    bool real;
    std::int64_t k;
    Path path;
  };
  const Case cases[] = {
      {Shape{4096}, false, 20, Path::comb},        {Shape{4096}, true, 20, Path::comb},
      {Shape{96, 128}, false, 30, Path::comb},     {Shape{96, 128}, true, 30, Path::comb},
      {Shape{16, 24, 32}, false, 25, Path::comb},  {Shape{16, 24, 32}, true, 25, Path::comb},
      {Shape{10007}, false, 8, Path::flat_window}, {Shape{10007}, true, 8, Path::flat_window},
      {Shape{61, 67}, true, 6, Path::flat_window}, {Shape{64, 64}, false, 12, Path::flat_window},
      {Shape{30, 20}, false, 5, Path::direct},     {Shape{30, 20}, true, 5, Path::direct},
      {Shape{32, 48}, false, 40, Path::dense},     {Shape{32, 48}, true, 40, Path::dense},
      {Shape{2048}, false, 10, Path::automatic},   {Shape{100}, true, 3, Path::automatic}};
  unsigned seed = 1;
  for (const Case& one : cases) {
    SCOPED_TRACE(one.shape.to_string() + " " + to_string(one.path) + (one.real ? " real" : " complex"));
    const SparseSignal signal = SparseSignal::random(one.shape, one.real, one.k, seed++);
    const Template tmpl =
        Template::from_support(one.shape, one.real ? Domain::real : Domain::complex, signal.support);
    const PlanOptions options{.path = one.path, .seed = seed};
    const Spectrum<Real> spectrum =
        one.real ? expect_round_trip<Real>(tmpl, options, signal.as<Real>())
                 : expect_round_trip<Real>(tmpl, options, signal.as<std::complex<Real>>());
    EXPECT_LE(test::relative_l2(spectrum.values, signal.values), bound);
  }
}

TEST(KeptPlan, EveryPathGivesTheSameBitsInFloat) {
  expect_sparse_round_trips<float>();
}
TEST(KeptPlan, EveryPathGivesTheSameBitsInDouble) {
  expect_sparse_round_trips<double>();
}

TEST(KeptPlan, LearnedTemplatesWithAndWithoutReference) {
  constexpr std::int64_t kRows = 96, kColumns = 128;
  const Shape shape{kRows, kColumns};
  const auto first = test::film_frame(kRows, kColumns, 0), later = test::film_frame(kRows, kColumns, 6);
  for (const bool reference : {false, true}) {
    const Template tmpl = learn(SignalView(first, shape), {.keep = Largest{60}, .reference = reference});
    for (const Path path : {Path::comb, Path::flat_window, Path::automatic}) {
      if (path == Path::flat_window && reference) continue;
      SCOPED_TRACE(std::string(to_string(path)) + (reference ? " with reference" : ""));
      const PlanOptions options{.max_samples = path == Path::flat_window ? std::optional(0.9) : std::nullopt,
                                .path = path};
      const auto spectrum = expect_round_trip<float>(tmpl, options, later);
      const auto truth = test::direct_at(std::vector<double>(later.begin(), later.end()), shape,
                                         {tmpl.support().begin(), tmpl.support().end()});
      double error = 0;
      for (std::size_t i = 0; i < truth.size(); ++i)
        if (tmpl.support()[i] != 0) error += std::norm(std::complex<double>(spectrum.values[i]) - truth[i]);
      EXPECT_LE(std::sqrt(error), 3 * spectrum.quality.error_l2 + 1e-5 * std::abs(truth[0]));
    }
  }
}

TEST(KeptPlan, RandomRequestsOnRandomShapes) {
  std::mt19937 random(5);
  const auto side = [&](unsigned max) { return static_cast<std::int64_t>(1 + random() % max); };
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const Shape shape = seed % 3 == 0   ? Shape{side(3000)}
                        : seed % 3 == 1 ? Shape{side(60), side(60)}
                                        : Shape{side(14), side(14), side(14)};
    const auto max = static_cast<unsigned>(std::clamp<std::int64_t>(shape.points() / 3, 1, 30));
    const SparseSignal signal =
        SparseSignal::random(shape, false, 1 + static_cast<std::int64_t>(random() % max), seed);
    SCOPED_TRACE(shape.to_string());
    const PlanOptions options{
        .batch = static_cast<int>(side(9)),
        .accuracy = random() % 2 == 0 ? 0.0 : 1e-3,
        .max_samples = random() % 2 == 0 ? std::nullopt : std::optional(0.7),
        .witness = random() % 2 == 0 ? PlanOptions::Witness::scattered : PlanOptions::Witness::none,
        .seed = random()};
    const auto x = signal.samples();
    const auto spectrum =
        expect_round_trip<double>(Template::from_support(shape, Domain::complex, signal.support), options, x);
    EXPECT_LE(test::relative_l2(spectrum.values, signal.values), 2e-12);
  }
}

Template small_film(bool reference = true) {
  const auto frame = test::film_frame(48, 64, 0);
  return learn(SignalView(frame, Shape{48, 64}), {.keep = Largest{20}, .reference = reference});
}

TEST(KeptPlan, AnotherRequestIsPlannedAgainWithAReason) {
  const PlanOptions made{.path = Path::comb};
  const Template tmpl = Plan<float>(small_film(), made).keep_in(small_film());
  const auto note = [&](const std::function<void(PlanOptions&)>& change) {
    PlanOptions options = made;
    change(options);
    const Plan<float> plan(tmpl, options);
    EXPECT_FALSE(plan.info().kept);
    EXPECT_NE(plan.explain().find(plan.info().kept_note), std::string::npos);
    // The plan is the same as from a template without plans.
    test::expect_same_plan(plan.info(), Plan<float>(small_film(), options).info());
    return plan.info().kept_note;
  };
  using Options = PlanOptions;
  EXPECT_NE(note([](Options& o) { o.accuracy = 0.25; }).find("accuracy = 0, not 0.25"), std::string::npos);
  EXPECT_NE(note([](Options& o) { o.max_samples = 0.3; }).find("max_samples = automatic, not 0.3"),
            std::string::npos);
  EXPECT_NE(note([](Options& o) { o.batch = 8; }).find("batch = 1, not 8"), std::string::npos);
  EXPECT_NE(note([](Options& o) { o.seed = 7; }).find("seed = 1, not 7"), std::string::npos);
  EXPECT_NE(note([](Options& o) { o.path = Path::automatic; }).find("path = comb"), std::string::npos);
  EXPECT_NE(note([](Options& o) { o.effort = PlanEffort::thorough; }).find("effort = normal, not thorough"),
            std::string::npos);
  EXPECT_NE(note([](Options& o) { o.use_reference = false; }).find("differences to a reference"),
            std::string::npos);
  EXPECT_EQ(note([](Options& o) { o.use_kept = false; }), "") << "it was not looked at";
  const Plan<double> wider(tmpl, made);
  EXPECT_FALSE(wider.info().kept);
  EXPECT_NE(wider.info().kept_note.find("made for float, not double"), std::string::npos);
  const PlanInfo quick = Plan<float>(tmpl, {.path = Path::comb, .effort = PlanEffort::quick}).info();
  EXPECT_TRUE(quick.kept) << "made with more effort than this";
  // The location of frames does not matter to a CPU.
  EXPECT_TRUE(Plan<float>(tmpl, {.path = Path::comb, .page_locked_frames = true}).info().kept);
  // The search does not depend on the number of threads.
  EXPECT_TRUE(Plan<float>(tmpl, {.path = Path::comb, .threads = 2}).info().kept);
  EXPECT_TRUE(Plan<float>(tmpl, {.path = Path::comb, .witness = PlanOptions::Witness::none}).info().kept);
  EXPECT_TRUE(Plan<float>(tmpl, {.device = Device::cpu(), .path = Path::comb}).info().kept);
}

TEST(KeptPlan, OfOtherMachinesAndVersionsAreIgnoredWithAReason) {
  const Template tmpl = Plan<float>(small_film()).keep_in(small_film());
  const auto with = [&](const std::function<void(detail::KeptPlan&)>& change) {
    auto data = std::make_shared<detail::TemplateData>(*detail::data_of(tmpl));
    change(data->plans.at(0));
    const Plan<float> plan(test::parsed(detail::template_bytes(*data)));
    EXPECT_FALSE(plan.info().kept);
    return plan.info().kept_note;
  };
  const auto of_a_gpu = [](detail::KeptPlan& plan) {
    plan.key.backend = Backend::cuda;
    plan.key.device = "NVIDIA H200";
  };
  EXPECT_NE(with(of_a_gpu).find("made for the cuda (NVIDIA H200), not the cpu"), std::string::npos);
  EXPECT_NE(with([](detail::KeptPlan& plan) { plan.key.library = "0.0.1"; }).find("version 0.0.1"),
            std::string::npos);
}

TEST(KeptPlan, WhereFramesAreIsAPartOfTheRequest) {
  auto data = std::make_shared<detail::TemplateData>(
      *detail::data_of(Plan<float>(small_film()).keep_in(small_film())));
  detail::PlanKey key = data->plans.at(0).key;
  key.backend = Backend::cuda;
  key.device = "NVIDIA H200";
  key.page_locked_frames = true;
  data->plans[0].key = key;
  const Template tmpl = test::parsed(detail::template_bytes(*data));
  EXPECT_EQ(detail::data_of(tmpl)->plans.at(0).key, key) << "files keep it";
  EXPECT_NE(detail::find_kept(*detail::data_of(tmpl), key).plan, nullptr);
  key.page_locked_frames = false;
  const detail::KeptMatch other = detail::find_kept(*detail::data_of(tmpl), key);
  EXPECT_EQ(other.plan, nullptr);
  EXPECT_NE(other.why_not.find("in page-locked memory, not anywhere"), std::string::npos) << other.why_not;
}

TEST(KeptPlan, TheBurstIsAPartOfTheRequest) {
  const Template bare =
      Template::from_support(Shape{1 << 16}, Domain::complex, std::vector<std::int64_t>{7, 99, 5000});
  PlanOptions options{.path = Path::comb, .burst = 0.01};
  const Template tmpl = test::parsed(test::bytes_of(Plan<float>(bare, options).keep_in(bare)));
  const Plan<float> kept(tmpl, options);
  EXPECT_TRUE(kept.info().kept) << kept.info().kept_note;
  test::expect_same_plan(kept.info(), Plan<float>(bare, options).info());
  options.burst_miss = 1e-4;
  EXPECT_NE(Plan<float>(tmpl, options).info().kept_note.find("burst_miss = 0.001, not 0.0001"),
            std::string::npos);
  options.burst = 0;
  EXPECT_NE(Plan<float>(tmpl, options).info().kept_note.find("burst = 0.01, not 0"), std::string::npos);
  // Without the option the probability appears only in the report.
  const Template without = Plan<float>(bare, {.path = Path::comb}).keep_in(bare);
  EXPECT_TRUE(Plan<float>(without, {.path = Path::comb, .burst_miss = 0.1}).info().kept);
}

TEST(KeptPlan, ATemplateKeepsSeveral) {
  const Template bare = small_film();
  const Plan<float> comb(bare, {.path = Path::comb}), dense(bare, {.path = Path::dense});
  const Plan<double> wide(bare, {.path = Path::comb});
  const Template all = wide.keep_in(dense.keep_in(comb.keep_in(comb.keep_in(bare))));
  ASSERT_EQ(all.kept_plans().size(), 3u) << "one for each request";
  EXPECT_NE(all.kept_plans()[0].find("float on the cpu: comb "), std::string::npos) << all.kept_plans()[0];
  EXPECT_EQ(all.kept_plans()[1], "float on the cpu: dense");
  const Template loaded = test::parsed(test::bytes_of(all));
  EXPECT_EQ(loaded.kept_plans(), all.kept_plans());
  EXPECT_TRUE(Plan<float>(loaded, {.path = Path::comb}).info().kept);
  EXPECT_TRUE(Plan<float>(loaded, {.path = Path::dense}).info().kept);
  EXPECT_TRUE(Plan<double>(loaded, {.path = Path::comb}).info().kept);
  // A plan that started from a kept one can be kept again.
  const Plan<float> again(loaded, {.path = Path::comb});
  EXPECT_EQ(test::bytes_of(again.keep_in(bare)), test::bytes_of(comb.keep_in(bare)));
  Template many = bare;
  for (std::uint64_t seed = 1; seed <= 70; ++seed)
    many = Plan<float>(bare, {.path = Path::dense, .seed = seed}).keep_in(many);
  EXPECT_EQ(many.kept_plans().size(), 64u) << "the oldest are left out";
}

TEST(KeptPlan, BelongsToItsTemplate) {
  const Plan<float> plan(small_film());
  const auto frame = test::film_frame(48, 64, 0, 2);
  const Template other = learn(SignalView(frame, Shape{48, 64}), {.keep = Largest{20}});
  EXPECT_EQ(test::code_of([&] { plan.keep_in(other); }), ErrorCode::invalid_argument);
  EXPECT_EQ(test::code_of([&] { plan.keep_in(small_film(false)); }), std::nullopt)
      << "the reference frame is no part of a plan";
}

TEST(KeptPlan, TrackersStartFromIt) {
  const Template tmpl = Plan<float>(small_film()).keep_in(small_film());
  Tracker<float> tracker(tmpl);
  EXPECT_TRUE(tracker.plan().info().kept) << tracker.plan().explain();
  Tracker<float> stricter(tmpl, {.accuracy = 0.1});
  EXPECT_FALSE(stricter.plan().info().kept);
  EXPECT_NE(stricter.plan().info().kept_note.find("accuracy"), std::string::npos);
}

}  // namespace
}  // namespace sfft::kept_plan_test
