// SPDX-License-Identifier: Apache-2.0
// Tests plans on the GPU through the public interface: results, transfers, single frames, and failures.
#include "sfft/plan.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "bench/known_signals.hpp"
#include "sfft/error.hpp"
#include "sfft/sfft.hpp"
#include "sfft/template_access.hpp"
#include "template/data/template_data.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/region.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test::plan_cuda_test {
namespace {

class PlanCuda : public GpuTest {};

template <class Real>
void check_shapes() {
  const std::vector<std::pair<Shape, std::int64_t>> cases{
      {Shape{1}, 1},       {Shape{2}, 1},          {Shape{7}, 2},        {Shape{1021}, 8},
      {Shape{1023}, 8},    {Shape{1024}, 8},       {Shape{1025}, 8},     {Shape{4096}, 40},
      {Shape{65536}, 64},  {Shape{31, 37}, 6},     {Shape{101, 103}, 9}, {Shape{432, 768}, 30},
      {Shape{5, 7, 9}, 4}, {Shape{16, 15, 14}, 9}, {Shape{65537}, 16},   {Shape{1080, 1920}, 12}};
  for (const auto& [shape, k] : cases) {
    for (const bool real : {false, true}) {
      const SparseSignal signal =
          SparseSignal::random(shape, real, real ? std::max<std::int64_t>(1, k / 2) : k, 5);
      const Template tmpl =
          Template::from_support(shape, real ? Domain::real : Domain::complex, signal.support);
      for (const Path path : {Path::automatic, Path::direct, Path::comb, Path::flat_window, Path::dense}) {
        // Dense plans of little effort use a separate engine.
        const PlanEffort effort = path == Path::dense && k % 2 == 0 ? PlanEffort::quick : PlanEffort::normal;
        std::optional<Plan<Real>> plan;
        try {
          plan.emplace(tmpl, PlanOptions{.device = Device::gpu(), .path = path, .effort = effort});
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::not_sparse) << error.what();
          continue;
        }
        const auto run = [&](const auto& x) {
          const Spectrum<Real> spectrum = plan->execute(SignalView(x, shape));
          EXPECT_LE(relative_l2(spectrum.values, signal.values), plan_bound<Real>(shape))
              << shape.to_string() << (real ? " real\n" : " complex\n") << plan->explain();
          EXPECT_TRUE(spectrum.quality.finite);
          EXPECT_EQ(spectrum.backend, Backend::cuda);
          EXPECT_LE(spectrum.quality.relative_error, 100 * plan_bound<Real>(shape));
          EXPECT_GT(spectrum.transferred_bytes, 0);
        };
        if (real) {
          run(signal.as<Real>());
        } else {
          run(signal.as<std::complex<Real>>());
        }
      }
    }
  }
}

TEST_F(PlanCuda, RecoversSparseSignalsOfEveryShapeOnEveryPathFloat) {
  check_shapes<float>();
}
TEST_F(PlanCuda, RecoversSparseSignalsOfEveryShapeOnEveryPathDouble) {
  check_shapes<double>();
}

/// A learned film with a reference gives the same numbers for every kind of transfer and every batch.
TEST_F(PlanCuda, TransfersAndBatchesAgree) {
  const Shape shape{240, 320};
  std::vector<std::vector<std::uint8_t>> films;
  std::vector<SignalView> frames;
  for (int t = 0; t < 70; ++t) films.push_back(film_frame(240, 320, t));
  for (const auto& film : films) frames.emplace_back(film, shape);
  const Template tmpl = learn(frames[0], {.keep = Largest{150}, .reference = true});
  for (const Path path : {Path::comb, Path::dense}) {
    std::vector<Spectrum<float>> first;
    for (const int batch : {1, 3, 64}) {
      for (const PlanOptions::Transfer transfer :
           {PlanOptions::Transfer::automatic, PlanOptions::Transfer::whole, PlanOptions::Transfer::gather}) {
        for (const int threads : {1, 3}) {
          const Plan<float> plan(tmpl, {.device = Device::gpu(),
                                        .batch = batch,
                                        .path = path,
                                        .threads = threads,
                                        .transfer = transfer});
          auto workspace = plan.make_workspace();
          std::vector<Spectrum<float>> spectra(frames.size());
          plan.execute(frames, spectra, workspace);
          EXPECT_EQ(spectra[0].transferred_bytes,
                    path == Path::dense || transfer == PlanOptions::Transfer::whole ? shape.points()
                                                                                    : plan.info().samples);
          for (std::size_t i = 0; i < frames.size(); ++i) {
            const auto exact = Plan<double>(tmpl, {.path = Path::dense}).execute(frames[i]);
            const double error = relative_l2(spectra[i].values, exact.values);
            EXPECT_LE(error, path == Path::dense ? 1e-6 : 0.2) << i;
            if (i % 16 != 0) continue;
            EXPECT_LE(error, 3 * spectra[i].quality.relative_error + 1e-6) << plan.explain();
          }
          if (first.empty()) first = spectra;
        }
      }
    }
    (void)first;
  }
}

TEST_F(PlanCuda, RegionsGiveTheSameBits) {
  const Shape shape{240, 320};
  std::vector<std::vector<std::uint8_t>> films;
  for (int t = 0; t < 5; ++t) films.push_back(film_frame(240, 320, t));
  const Region<std::uint8_t> first(films[0], shape), second(films[2], shape), third(films[3], shape);
  const Template tmpl = learn(SignalView(films[0], shape), {.keep = Largest{100}, .reference = true});
  const LearnOptions on_gpu{.keep = Largest{100}, .reference = true, .device = Device::gpu()};
  EXPECT_EQ(*detail::data_of(learn(first.view(), on_gpu))->support,
            *detail::data_of(learn(SignalView(films[0], shape), on_gpu))->support);
  for (const Path path : {Path::comb, Path::flat_window, Path::dense}) {
    for (const PlanOptions::Transfer transfer :
         {PlanOptions::Transfer::automatic, PlanOptions::Transfer::whole, PlanOptions::Transfer::gather,
          PlanOptions::Transfer::mapped}) {
      PlanOptions options{.device = Device::gpu(), .batch = 3, .path = path};
      options.transfer = transfer;
      const Plan<float> plan(tmpl, options);
      if (transfer == PlanOptions::Transfer::mapped && path != Path::dense) {
        EXPECT_EQ(plan.execute(second.view()).values,
                  Plan<float>(tmpl, {.device = Device::gpu(), .batch = 3, .path = path})
                      .execute(SignalView(films[2], shape))
                      .values);
        continue;
      }
      const std::vector<SignalView> mixed{SignalView(films[1], shape), second.view(), third.view(),
                                          SignalView(films[4], shape)};
      std::vector<SignalView> copies;
      for (int t = 1; t < 5; ++t) copies.emplace_back(films[static_cast<std::size_t>(t)], shape);
      std::vector<Spectrum<float>> got(4), expected(4);
      auto workspace = plan.make_workspace();
      plan.execute(copies, expected, workspace);
      plan.execute(mixed, got, workspace);
      for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].values, expected[i].values) << to_string(path) << ", frame " << i;
        EXPECT_EQ(got[i].quality.error_l2, expected[i].quality.error_l2)
            << to_string(path) << ", frame " << i;
      }
      if (path == Path::dense) continue;
      const auto renewed = plan.with_reference(first.view(), tmpl.values());
      EXPECT_EQ(renewed.execute(second.view()).values, expected[1].values) << to_string(path);
    }
  }
}

TEST_F(PlanCuda, ReportsNaNInItsOwnFrameAlone) {
  for (const Path path : {Path::direct, Path::comb, Path::flat_window, Path::dense}) {
    const Shape shape{path == Path::flat_window ? 1021 : 1024};
    const auto signal = SparseSignal::random(shape, false, 5, 2);
    const auto good = signal.as<std::complex<float>>();
    const std::vector<std::complex<float>> bad(good.size(), {std::numeric_limits<float>::quiet_NaN(), 0});
    const std::vector<SignalView> frames{SignalView::line(good), SignalView::line(bad),
                                         SignalView::line(good)};
    const Plan<float> plan(Template::from_support(shape, Domain::complex, signal.support),
                           {.device = Device::gpu(), .batch = 3, .path = path});
    auto workspace = plan.make_workspace();
    std::vector<Spectrum<float>> spectra(3);
    plan.execute(frames, spectra, workspace);
    EXPECT_TRUE(spectra[0].quality.finite) << to_string(path);
    EXPECT_FALSE(spectra[1].quality.finite) << to_string(path);
    EXPECT_TRUE(spectra[2].quality.finite) << to_string(path);
    EXPECT_LE(relative_l2(spectra[2].values, signal.values), plan_bound<float>(shape)) << to_string(path);
  }
}

TEST_F(PlanCuda, TracksAFilmAsTheCpuDoes) {
  const Shape shape{240, 320};
  const auto first = film_frame(240, 320, 0);
  const Template tmpl = learn(SignalView(first, shape), {.keep = Largest{150}, .reference = true});
  TrackerOptions options;
  options.plan.device = Device::gpu();
  Tracker<float> tracker(tmpl, options);
  for (int t = 1; t < 60; ++t) {
    const auto film = film_frame(240, 320, t, t < 30 ? 1 : 2);
    const auto& tracked = tracker.push(SignalView(film, shape));
    const Template& now = tracker.current_template();
    const auto exact = Plan<double>(now, {.path = Path::dense}).execute(SignalView(film, shape));
    const double error = relative_l2(tracked.spectrum.values, exact.values);
    EXPECT_LE(error, t >= 30 && t < 34 ? 2 : 0.2) << t << " " << to_string(tracked.action);
  }
  EXPECT_GE(tracker.relearned(), 1);
}

TEST_F(PlanCuda, AutomaticTakesTheGpuWhereThatPays) {
  EXPECT_EQ(availability(Device::gpu()).reason, "");
  const std::vector<std::int64_t> few{3, 77, 1000};
  EXPECT_EQ(Plan<float>(Template::from_support(Shape{4096}, Domain::complex, few)).info().backend,
            Backend::cpu);
  // In a large dense plan the bus transfer takes a millisecond, and the CPU's transform a hundred.
  const Template tmpl = Template::from_support(Shape{1 << 22}, Domain::complex, few);
  const Plan<float> dense(tmpl, {.path = Path::dense});
  EXPECT_EQ(dense.info().backend, Backend::cuda) << dense.explain();
  std::vector<std::complex<float>> signal(1 << 22);
  std::mt19937 random(3);
  for (auto& sample : signal)
    sample = {static_cast<float>(random() % 100), static_cast<float>(random() % 100)};
  const SignalView view(std::span<const std::complex<float>>(signal), tmpl.shape());
  const Plan<float> host(tmpl, {.device = Device::cpu(), .path = Path::dense});
  const auto got = dense.execute(view).values, expected = host.execute(view).values;
  for (std::size_t i = 0; i < few.size(); ++i)
    EXPECT_LE(std::abs(got[i] - expected[i]), 1e-5 * std::sqrt(static_cast<double>(signal.size())) * 60);
}

TEST_F(PlanCuda, SurvivesEveryAllocationFailure) {
  namespace cuda = detail::cuda;
  const Shape shape{240, 320};
  const auto film = film_frame(240, 320, 3);
  const Template tmpl =
      learn(SignalView(film_frame(240, 320, 0), shape), {.keep = Largest{100}, .reference = true});
  const SignalView frame(film, shape);
  for (const Path path : {Path::comb, Path::flat_window, Path::dense}) {
    if (path == Path::flat_window) continue;  // not possible for this film
    // The first plan of a process takes page-locked memory that the process keeps.
    static_cast<void>(Plan<float>(tmpl, {.device = Device::gpu(), .path = path}).execute(frame));
    const auto before = cuda::allocated_bytes();
    std::vector<std::complex<float>> truth;
    int failures = 0;
    for (int n = 1; n < 200; ++n) {
      cuda::fail_allocation(n);
      bool failed = false;
      try {
        const Plan<float> plan(tmpl, {.device = Device::gpu(), .path = path});
        auto workspace = plan.make_workspace();
        auto spectrum = plan.make_spectrum();
        plan.execute(frame, spectrum, workspace);
        truth = spectrum.values;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
        failed = true;
        ++failures;
      }
      cuda::fail_allocation(0);
      EXPECT_EQ(cuda::allocated_bytes(), before) << "leak after allocation " << n;
      if (!failed) break;
    }
    EXPECT_GE(failures, 5);
    // A workspace works again after a call that failed half-way.
    const Plan<float> plan(tmpl, {.device = Device::gpu(), .path = path});
    for (int n = 1; n < 30; ++n) {
      Workspace workspace;
      auto spectrum = plan.make_spectrum();
      cuda::fail_allocation(n);
      static_cast<void>(code_of([&] { plan.execute(frame, spectrum, workspace); }));
      cuda::fail_allocation(0);
      plan.execute(frame, spectrum, workspace);
      EXPECT_EQ(spectrum.values, truth);
    }
  }
}

}  // namespace
}  // namespace sfft::test::plan_cuda_test
