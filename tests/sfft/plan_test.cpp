// SPDX-License-Identifier: Apache-2.0
// Tests plans end to end: every shape, element type, precision and path against known coefficients.
#include "sfft/plan.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "bench/known_signals.hpp"
#include "sfft/error.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::plan_test {
namespace {

using test::code_of;
using test::plan_bound;
using test::SparseSignal;

struct Case {
  Shape shape;
  std::int64_t k;
};

std::vector<Case> cases() {
  return {{Shape{1}, 1},           {Shape{2}, 1},         {Shape{7}, 2},          {Shape{1021}, 8},
          {Shape{1023}, 8},        {Shape{1024}, 8},      {Shape{1025}, 8},       {Shape{4096}, 40},
          {Shape{8191}, 12},       {Shape{65536}, 64},    {Shape{31, 37}, 6},     {Shape{48, 64}, 10},
          {Shape{101, 103}, 9},    {Shape{432, 768}, 30}, {Shape{5, 7, 9}, 4},    {Shape{16, 15, 14}, 9},
          {Shape{32, 32, 32}, 20}, {Shape{1, 4096}, 10},  {Shape{1080, 1920}, 12}};
}

template <class Real>
class PlanTest : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(PlanTest, Reals);

TYPED_TEST(PlanTest, RecoversSparseSignalsOfEveryShape) {
  using Real = TypeParam;
  for (const Case& one : cases()) {
    for (const bool real : {false, true}) {
      const SparseSignal signal =
          SparseSignal::random(one.shape, real, real ? std::max<std::int64_t>(1, one.k / 2) : one.k, 5);
      const Template tmpl =
          Template::from_support(one.shape, real ? Domain::real : Domain::complex, signal.support);
      const Plan<Real> plan(tmpl);
      Spectrum<Real> spectrum;
      if (real) {
        const auto x = signal.as<Real>();
        spectrum = plan.execute(SignalView(x, one.shape));
      } else {
        const auto x = signal.as<std::complex<Real>>();
        spectrum = plan.execute(SignalView(x, one.shape));
      }
      const double error = test::relative_l2(spectrum.values, signal.values);
      EXPECT_LE(error, plan_bound<Real>(one.shape))
          << one.shape.to_string() << (real ? " real" : " complex") << "\n"
          << plan.explain();
      EXPECT_TRUE(spectrum.quality.finite);
      EXPECT_EQ(spectrum.path, plan.info().path);
      EXPECT_EQ(*spectrum.support, signal.support);
      EXPECT_LE(spectrum.quality.relative_error, 100 * plan_bound<Real>(one.shape)) << "nothing lies outside";
    }
  }
}

TYPED_TEST(PlanTest, EveryForcedPathIsRightOrRefused) {
  using Real = TypeParam;
  for (const Case& one : cases()) {
    if (one.shape.points() > 100000) continue;
    const SparseSignal signal = SparseSignal::random(one.shape, false, one.k, 6);
    const Template tmpl = Template::from_support(one.shape, Domain::complex, signal.support);
    const auto x = signal.as<std::complex<Real>>();
    for (const Path path : {Path::direct, Path::comb, Path::flat_window, Path::dense}) {
      try {
        const Plan<Real> plan(tmpl, {.path = path});
        const auto spectrum = plan.execute(SignalView(x, one.shape));
        EXPECT_EQ(spectrum.path, path);
        EXPECT_LE(test::relative_l2(spectrum.values, signal.values), plan_bound<Real>(one.shape))
            << one.shape.to_string() << "\n"
            << plan.explain();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::not_sparse) << error.what();
        EXPECT_NE(path, Path::dense);
      }
    }
  }
}

TYPED_TEST(PlanTest, EveryElementType) {
  using Real = TypeParam;
  const Shape shape{48, 80};
  // Integers cannot represent an exactly sparse signal, so the reference is the transform of the rounded
  // samples.
  const auto film = test::film_frame(48, 80, 3);
  const std::vector<std::int64_t> frequencies{0, 1, 5, 83, 165, 400};
  const auto truth = test::direct_at(std::vector<double>(film.begin(), film.end()), shape, frequencies);
  const Template tmpl = Template::from_support(shape, Domain::real, frequencies);
  for (const Path path : {Path::comb, Path::dense}) {
    const Plan<Real> plan(tmpl, {.path = path});
    const auto reference = plan.execute(SignalView(std::vector<double>(film.begin(), film.end()), shape));
    if (path == Path::dense) {
      EXPECT_LE(test::relative_l2(reference.values, truth), plan_bound<Real>(shape));
    }
    const auto same = [&](const SignalView& frame) {
      EXPECT_LE(test::relative_l2(plan.execute(frame).values, reference.values),
                4 * std::numeric_limits<Real>::epsilon())
          << to_string(frame.type());
    };
    same(SignalView(film, shape));
    same(SignalView(std::vector<std::uint16_t>(film.begin(), film.end()), shape));
    same(SignalView(std::vector<float>(film.begin(), film.end()), shape));
  }
  const Template complex_template = Template::from_support(shape, Domain::complex, frequencies);
  const Plan<Real> plan(complex_template, {.path = Path::comb});
  const std::vector<std::complex<float>> single(film.begin(), film.end());
  const std::vector<std::complex<double>> twice(film.begin(), film.end());
  EXPECT_LE(test::relative_l2(plan.execute(SignalView(single, shape)).values,
                              plan.execute(SignalView(twice, shape)).values),
            4 * std::numeric_limits<Real>::epsilon());
}

TYPED_TEST(PlanTest, BatchesThreadsAndSharedPlansAgreeBitwise) {
  using Real = TypeParam;
  const Shape shape{96, 128};
  const Template tmpl =
      learn(SignalView(test::film_frame(96, 128, 0), shape), {.keep = Largest{60}, .reference = true});
  std::vector<std::vector<std::uint8_t>> films;
  std::vector<SignalView> frames;
  for (int t = 0; t < 9; ++t) films.push_back(test::film_frame(96, 128, t));
  for (const auto& film : films) frames.emplace_back(film, shape);
  const Plan<Real> plan(tmpl, {.device = Device::cpu(), .path = Path::comb});
  std::vector<Spectrum<Real>> one_by_one;
  for (const SignalView& frame : frames) one_by_one.push_back(plan.execute(frame));

  const Plan<Real> threaded(tmpl, {.device = Device::cpu(), .path = Path::comb, .threads = 3});
  auto workspace = threaded.make_workspace();
  std::vector<Spectrum<Real>> batch(frames.size());
  for (int repeat = 0; repeat < 20; ++repeat) {
    threaded.execute(frames, batch, workspace);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      EXPECT_EQ(batch[i].values, one_by_one[i].values);
    }
    Spectrum<Real> single;  // the threads share its samples
    threaded.execute(frames[3], single, workspace);
    EXPECT_EQ(single.values, batch[3].values);
  }
  std::vector<std::thread> users;
  std::vector<int> wrong(4, 0);
  for (std::size_t u = 0; u < wrong.size(); ++u) {
    users.emplace_back([&, u] {
      auto own = plan.make_workspace();
      auto spectrum = plan.make_spectrum();
      for (std::size_t i = 0; i < frames.size(); ++i) {
        plan.execute(frames[i], spectrum, own);
        wrong[u] += spectrum.values != one_by_one[i].values;
      }
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TYPED_TEST(PlanTest, DifferencingRecoversAChangeAndNothingWhereNothingChanged) {
  using Real = TypeParam;
  const Shape shape{96, 128};
  const auto first = test::film_frame(96, 128, 0);
  const auto later = test::film_frame(96, 128, 30);
  const Template tmpl = learn(SignalView(first, shape), {.keep = Largest{80}, .reference = true});
  const Plan<Real> plan(tmpl, {.path = Path::comb});
  ASSERT_TRUE(plan.info().reference);
  const auto unchanged = plan.execute(SignalView(first, shape));
  EXPECT_LE(test::relative_l2(unchanged.values, tmpl.values()), 4 * std::numeric_limits<Real>::epsilon());
  EXPECT_EQ(unchanged.quality.tail_energy, 0);
  const std::vector<std::int64_t> support(tmpl.support().begin(), tmpl.support().end());
  const auto truth = test::direct_at(std::vector<double>(later.begin(), later.end()), shape, support);
  const auto changed = plan.execute(SignalView(later, shape));
  const double kept = test::relative_l2(unchanged.values, truth);
  const double error = test::relative_l2(changed.values, truth);
  EXPECT_LE(error, 0.5 * kept) << "better than repeating the reference";
  // A new reference makes the new frame exact.
  const Plan<Real> renewed = plan.with_reference(SignalView(later, shape), truth);
  EXPECT_LE(test::relative_l2(renewed.execute(SignalView(later, shape)).values, truth),
            4 * std::numeric_limits<Real>::epsilon());
  EXPECT_EQ(code_of([&] { plan.with_reference(SignalView(later, shape), std::span(truth).subspan(1)); }),
            ErrorCode::shape_mismatch);
}

TYPED_TEST(PlanTest, NaNAndInfinityAreReportedAndDoNotLinger) {
  using Real = TypeParam;
  for (const Path path : {Path::direct, Path::comb, Path::flat_window, Path::dense}) {
    const Shape shape{path == Path::flat_window ? 1021 : 1024};
    const SparseSignal signal = SparseSignal::random(shape, false, 5, 2);
    const auto good = signal.as<std::complex<Real>>();
    const Plan<Real> plan(Template::from_support(shape, Domain::complex, signal.support), {.path = path});
    auto workspace = plan.make_workspace();
    auto spectrum = plan.make_spectrum();
    for (const Real bad : {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity()}) {
      const std::vector<std::complex<Real>> all(good.size(), {bad, 0});
      plan.execute(SignalView::line(all), spectrum, workspace);
      EXPECT_FALSE(spectrum.quality.finite) << to_string(path);
      plan.execute(SignalView::line(good), spectrum, workspace);
      EXPECT_TRUE(spectrum.quality.finite) << to_string(path);
      EXPECT_LE(test::relative_l2(spectrum.values, signal.values), plan_bound<Real>(shape))
          << to_string(path);
    }
  }
}

TYPED_TEST(PlanTest, ZeroAndConstantFrames) {
  using Real = TypeParam;
  const Shape shape{60, 64};
  const Template tmpl =
      learn(SignalView(test::film_frame(60, 64, 0), shape), {.keep = Largest{20}, .reference = false});
  for (const Path path : {Path::automatic, Path::comb, Path::dense}) {
    const Plan<Real> plan(tmpl, {.path = path});
    const auto zero = plan.execute(SignalView(std::vector<std::uint8_t>(3840, 0), shape));
    for (const auto& value : zero.values) EXPECT_EQ(std::abs(value), 0);
    EXPECT_EQ(zero.quality.error_l2 >= 0 && std::isfinite(zero.quality.error_l2) && zero.quality.finite,
              true);
    const auto flat = plan.execute(SignalView(std::vector<std::uint8_t>(3840, 9), shape));
    EXPECT_TRUE(flat.quality.finite);
    ASSERT_EQ((*flat.support)[0], 0);
    EXPECT_NEAR(flat.values[0].real() / (9.0 * 3840), 1, 0.02) << "shrunk a little by the prior at most";
  }
}

TYPED_TEST(PlanTest, RefusesWhatDoesNotFit) {
  using Real = TypeParam;
  const Shape shape{16, 16};
  const std::vector<std::int64_t> support{1, 2, 3};
  const Plan<Real> real_plan(Template::from_support(shape, Domain::real, support));
  const Plan<Real> complex_plan(Template::from_support(shape, Domain::complex, support));
  const std::vector<float> real_frame(256);
  const std::vector<std::complex<float>> complex_frame(256);
  EXPECT_EQ(code_of([&] { real_plan.execute(SignalView(real_frame, Shape{256})); }),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([&] {
              real_plan.execute(SignalView(real_frame, Shape{8, 32}));
            }),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([&] { real_plan.execute(SignalView(complex_frame, shape)); }), ErrorCode::type_mismatch);
  EXPECT_EQ(code_of([&] { complex_plan.execute(SignalView(real_frame, shape)); }), ErrorCode::type_mismatch);
  auto workspace = real_plan.make_workspace();
  std::vector<Spectrum<Real>> spectra(2);
  const std::vector<SignalView> frames{SignalView(real_frame, shape)};
  EXPECT_EQ(code_of([&] { real_plan.execute(frames, spectra, workspace); }), ErrorCode::shape_mismatch);

  const Template tmpl = Template::from_support(shape, Domain::real, support);
  const auto plan_with = [&](PlanOptions options) { return code_of([&] { Plan<Real>(tmpl, options); }); };
  EXPECT_EQ(plan_with({.batch = 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(plan_with({.accuracy = -1}), ErrorCode::invalid_argument);
  EXPECT_EQ(plan_with({.accuracy = std::numeric_limits<double>::quiet_NaN()}), ErrorCode::invalid_argument);
  EXPECT_EQ(plan_with({.max_samples = 1.5}), ErrorCode::invalid_argument);
  EXPECT_EQ(plan_with({.threads = -2}), ErrorCode::invalid_argument);
  EXPECT_EQ(plan_with({.device = Device::gpu(99)}), ErrorCode::backend_unavailable);
  EXPECT_TRUE(availability(Device::cpu()));
  EXPECT_TRUE(availability(Device::automatic()));
  EXPECT_FALSE(availability(Device::gpu(99)));
  EXPECT_NE(availability(Device::gpu(99)).reason, "");
}

TEST(Plan, AsksForAccuracyAndGetsItOrDense) {
  const Shape shape{1 << 14};
  SparseSignal signal = SparseSignal::random(shape, false, 20, 3);
  auto x = signal.as<std::complex<double>>();
  std::mt19937 random(2);
  std::normal_distribution<double> noise(0, 1);
  for (auto& sample : x) sample += std::complex<double>(noise(random), noise(random));
  const Template tmpl = learn(SignalView::line(x), {.keep = Largest{20}});
  const Plan<double> loose(tmpl, {.accuracy = 0.2});
  EXPECT_EQ(loose.info().path, Path::comb);
  EXPECT_LE(loose.info().predicted_error, 0.2);
  const Plan<double> tight(tmpl, {.accuracy = 1e-9});
  EXPECT_EQ(tight.info().path, Path::dense);
  EXPECT_FALSE(tight.info().reason.empty());
  const Plan<double> closer(tmpl, {.accuracy = 0.05, .max_samples = 0.5});
  EXPECT_LE(closer.info().predicted_error, 0.05);
  EXPECT_GT(closer.info().samples, loose.info().samples);
}

TEST(Plan, ShortFramesMayReadMoreThanATwelfth) {
  // Twenty tones and noise: 85 samples of 1,024 are too few to tell twenty frequencies apart.
  SparseSignal signal = SparseSignal::random(Shape{1024}, false, 20, 5);
  auto x = signal.as<std::complex<float>>();
  std::mt19937 random(4);
  std::normal_distribution<float> noise(0, 1);
  for (auto& sample : x) sample += std::complex<float>(noise(random), noise(random));
  const Template tmpl = learn(SignalView::line(x), {.keep = Largest{20}});
  const PlanInfo info = Plan<float>(tmpl, {.device = Device::cpu()}).info();
  ASSERT_EQ(info.path, Path::comb) << info.reason;
  EXPECT_LE(info.samples - info.witness_samples, 256);
  EXPECT_LT(info.predicted_us, info.predicted_dense_us);
  const PlanInfo twelfth = Plan<float>(tmpl, {.device = Device::cpu(), .max_samples = 1.0 / 12}).info();
  if (twelfth.path == Path::comb) {
    EXPECT_LT(info.predicted_error, 0.7 * twelfth.predicted_error);
  }
}

TEST(Plan, IsTheSameForAnyNumberOfThreads) {
  const Shape shape{144, 192};
  const auto first = test::film_frame(144, 192, 0);
  const Template tmpl = learn(SignalView(std::span<const std::uint8_t>(first), shape),
                              {.keep = Largest{200}, .reference = true});
  const Plan<float> one(tmpl, {.device = Device::cpu(), .max_samples = 0.3, .threads = 1});
  const Plan<float> three(tmpl, {.device = Device::cpu(), .max_samples = 0.3, .threads = 3});
  ASSERT_EQ(one.info().path, Path::comb) << one.explain();
  EXPECT_EQ(one.info().buckets, three.info().buckets);
  EXPECT_EQ(one.info().delays, three.info().delays);
  EXPECT_EQ(one.info().predicted_error, three.info().predicted_error);
}

TEST(Plan, AnErrorHasToSaveTime) {
  const Shape shape{144, 192};
  const auto first = test::film_frame(144, 192, 0);
  const SignalView frame(std::span<const std::uint8_t>(first), shape);
  int combs = 0;
  for (const std::int64_t k : {50, 200, 800, 3000}) {
    const Template tmpl = learn(frame, {.keep = Largest{k}, .reference = true});
    const PlanInfo info = Plan<float>(tmpl, {.device = Device::cpu(), .max_samples = 1, .threads = 1}).info();
    if (info.path != Path::comb) continue;
    ++combs;
    EXPECT_LE(info.predicted_us, 0.67 * info.predicted_dense_us) << k;
  }
  EXPECT_GT(combs, 0);
}

TEST(Plan, NoiseIsNotSparse) {
  std::mt19937 random(2);
  std::normal_distribution<double> noise(0, 1);
  std::vector<float> x(1 << 14);
  for (float& sample : x) sample = static_cast<float>(noise(random));
  const Template tmpl = learn(SignalView::line(x), {.keep = Largest{20}});
  const Plan<float> plan(tmpl);
  EXPECT_EQ(plan.info().path, Path::dense) << plan.explain();
}

TEST(Plan, ExplainsItself) {
  const SparseSignal signal = SparseSignal::random(Shape{4096}, false, 64, 3);
  const Plan<float> plan(Template::from_support(signal.shape, Domain::complex, signal.support));
  const std::string text = plan.explain();
  for (const char* word : {"path", "comb", "buckets", "delays", "samples", "error", "dense", "engine"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
  }
}

/// A share of the energy: what is left out is bounded, by the largest coefficient that a direct sum finds
/// there.
TEST(Transform, AShareOfTheEnergyBoundsWhatIsLeftOut) {
  const SparseSignal signal = SparseSignal::random(Shape{600}, false, 12, 7);
  const auto x = signal.as<std::complex<double>>();
  const Discovery found = transform(SignalView::line(x), Energy{0.8});
  ASSERT_LT(found.spectrum.values.size(), signal.support.size());
  EXPECT_TRUE(found.support_learned_densely);
  EXPECT_EQ(found.samples, 600);
  double largest = 0, outside = 0;
  for (std::size_t i = 0; i < signal.support.size(); ++i) {
    if (std::ranges::count(*found.spectrum.support, signal.support[i]) > 0) continue;
    largest = std::max(largest, std::abs(signal.values[i]));
    outside += std::norm(signal.values[i]);
  }
  EXPECT_NEAR(found.missed_bound, largest, 1e-9 * largest);
  EXPECT_NEAR(found.spectrum.quality.tail_energy, outside, 1e-9 * outside);
  EXPECT_EQ(found.spectrum.shape, Shape{600});
}

TEST(Transform, UnknownSupportSaysHowItWasFound) {
  const SparseSignal signal = SparseSignal::random(Shape{1000}, false, 5, 3);
  const auto x = signal.as<std::complex<float>>();
  const Discovery found = transform(SignalView::line(x), Largest{5});
  const Spectrum<double>& spectrum = found.spectrum;
  EXPECT_EQ(*spectrum.support, signal.support);
  EXPECT_LE(test::relative_l2(spectrum.values, signal.values), plan_bound<float>(signal.shape));
  EXPECT_TRUE(found.support_learned_densely);
  EXPECT_EQ(spectrum.path, Path::dense);
  EXPECT_EQ(code_of([&] { transform(SignalView::line(x), Largest{0}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { transform(SignalView::line(x), Largest{5}, {.k = 5}); }),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace sfft::plan_test
