// SPDX-License-Identifier: Apache-2.0
// Tests plans on the GPU through the public interface: right answers, streams, graphs, transfers, failures.
#include "sfft/plan.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "bench/known_signals.hpp"
#include "sfft/error.hpp"
#include "sfft/sfft.hpp"
#include "template/data/template_data.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/region.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft {
namespace {

using test::code_of;
using test::OnDevice;
using test::SparseSignal;

class PlanCuda : public test::GpuTest {};

template <class Real>
double plan_bound(const Shape& shape) {
  return 8 * test::fft_bound<Real>(static_cast<double>(shape.points())) + (sizeof(Real) == 8 ? 1e-13 : 0);
}

/// Results of `count` frames in device memory.
template <class Real>
struct Results {
  std::size_t k, count;
  OnDevice<std::complex<Real>> values;
  OnDevice<Real> errors;
  OnDevice<FrameAccount> accounts;
  Results(std::size_t coefficients, std::size_t frames)
      : k(coefficients), count(frames), values(k * count), errors(k * count), accounts(count) {}
  DeviceSpectra<Real> view() const { return {values.get(), errors.get(), accounts.get()}; }
};

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
      const Template tmpl = Template::from_support(shape, real, signal.support);
      for (const Path path : {Path::automatic, Path::direct, Path::comb, Path::flat_window, Path::dense}) {
        std::optional<Plan<Real>> plan;
        try {
          plan.emplace(tmpl, PlanOptions{.backend = Backend::cuda, .path = path});
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::not_sparse) << error.what();
          continue;
        }
        const auto run = [&](const auto& x) {
          const Spectrum<Real> spectrum = plan->execute(SignalView(x, shape));
          EXPECT_LE(test::relative_l2(spectrum.values, signal.values), plan_bound<Real>(shape))
              << shape.to_string() << (real ? " real\n" : " complex\n") << plan->explain();
          EXPECT_TRUE(spectrum.finite);
          EXPECT_EQ(spectrum.backend, Backend::cuda);
          EXPECT_LE(spectrum.relative_error, 100 * plan_bound<Real>(shape));
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

/// A learned film with a reference: whatever the transfer, whatever the batch, the same numbers.
TEST_F(PlanCuda, TransfersAndBatchesAgree) {
  const Shape shape{240, 320};
  std::vector<std::vector<std::uint8_t>> films;
  std::vector<SignalView> frames;
  for (int t = 0; t < 70; ++t) films.push_back(test::film_frame(240, 320, t));
  for (const auto& film : films) frames.emplace_back(film, shape);
  const Template tmpl = learn(frames[0], {.k = 150, .reference = true});
  for (const Path path : {Path::comb, Path::dense}) {
    std::vector<Spectrum<float>> first;
    for (const int batch : {1, 3, 64}) {
      for (const Transfer transfer : {Transfer::automatic, Transfer::whole, Transfer::gather}) {
        for (const int threads : {1, 3}) {
          const Plan<float> plan(tmpl, {.backend = Backend::cuda,
                                        .batch = batch,
                                        .path = path,
                                        .threads = threads,
                                        .transfer = transfer});
          auto workspace = plan.make_workspace();
          std::vector<Spectrum<float>> spectra(frames.size());
          plan.execute(frames, spectra, workspace);
          EXPECT_EQ(spectra[0].transferred_bytes, path == Path::dense || transfer == Transfer::whole
                                                      ? shape.points()
                                                      : plan.info().samples);
          for (std::size_t i = 0; i < frames.size(); ++i) {
            const auto exact = Plan<double>(tmpl, {.path = Path::dense}).execute(frames[i]);
            const double error = test::relative_l2(spectra[i].values, exact.values);
            EXPECT_LE(error, path == Path::dense ? 1e-6 : 0.2) << i;
            if (i % 16 != 0) continue;
            EXPECT_LE(error, 3 * spectra[i].relative_error + 1e-6) << plan.explain();
          }
          if (first.empty()) first = spectra;
        }
      }
    }
    (void)first;
  }
}

TEST_F(PlanCuda, ReadsPageLockedFramesInPlace) {
  const Shape shape{240, 320};
  const auto film = test::film_frame(240, 320, 3);
  const Template tmpl =
      learn(SignalView(test::film_frame(240, 320, 0), shape), {.k = 100, .reference = true});
  const detail::cuda::PinnedBuffer pinned(2 * film.size());
  std::copy(film.begin(), film.end(), pinned.as<std::uint8_t>());
  std::copy(film.begin(), film.end(), pinned.as<std::uint8_t>() + film.size());
  const std::vector<SignalView> frames{
      SignalView(std::span<const std::uint8_t>(pinned.as<std::uint8_t>(), film.size()), shape),
      SignalView(std::span<const std::uint8_t>(pinned.as<std::uint8_t>() + film.size(), film.size()), shape)};
  PlanOptions options{.backend = Backend::cuda, .batch = 2, .path = Path::comb};
  options.transfer = Transfer::mapped;
  const Plan<float> mapped(tmpl, options);
  options.transfer = Transfer::gather;
  const Plan<float> gathered(tmpl, options);
  auto workspace = mapped.make_workspace();
  std::vector<Spectrum<float>> spectra(2);
  mapped.execute(frames, spectra, workspace);
  const auto other = gathered.execute(SignalView(film, shape));
  EXPECT_EQ(spectra[0].values, other.values);
  EXPECT_EQ(spectra[1].values, other.values);
  EXPECT_EQ(code_of([&] { mapped.execute(SignalView(film, shape)); }), ErrorCode::invalid_argument);
}

TEST_F(PlanCuda, RegionsGiveTheSameBits) {
  const Shape shape{240, 320};
  std::vector<std::vector<std::uint8_t>> films;
  for (int t = 0; t < 5; ++t) films.push_back(test::film_frame(240, 320, t));
  const test::Region<std::uint8_t> first(films[0], shape), second(films[2], shape), third(films[3], shape);
  const Template tmpl = learn(SignalView(films[0], shape), {.k = 100, .reference = true});
  const LearnOptions on_gpu{.k = 100, .reference = true, .backend = Backend::cuda};
  EXPECT_EQ(*learn(first.view(), on_gpu).data()->support,
            *learn(SignalView(films[0], shape), on_gpu).data()->support);
  for (const Path path : {Path::comb, Path::flat_window, Path::dense}) {
    for (const Transfer transfer :
         {Transfer::automatic, Transfer::whole, Transfer::gather, Transfer::mapped}) {
      PlanOptions options{.backend = Backend::cuda, .batch = 3, .path = path};
      options.transfer = transfer;
      const Plan<float> plan(tmpl, options);
      if (transfer == Transfer::mapped && path != Path::dense) {
        EXPECT_EQ(plan.execute(second.view()).values,
                  Plan<float>(tmpl, {.backend = Backend::cuda, .batch = 3, .path = path})
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
        EXPECT_EQ(got[i].error_l2, expected[i].error_l2) << to_string(path) << ", frame " << i;
      }
      if (path == Path::dense) continue;
      const auto renewed = plan.with_reference(first.view(), tmpl.values());
      EXPECT_EQ(renewed.execute(second.view()).values, expected[1].values) << to_string(path);
    }
  }
}

/// enqueue(): many frames, two streams on one plan, captured into a graph, bit for bit the same every time.
template <class Real>
void check_enqueue(Path path) {
  const Shape shape{path == Path::flat_window ? 32771 : 32768};
  constexpr std::size_t kFrames = 5;
  const auto points = static_cast<std::size_t>(shape.points());
  const auto signal = SparseSignal::random(shape, false, 24, 8);
  const auto x = signal.as<std::complex<Real>>();
  std::vector<std::complex<Real>> frames;
  for (std::size_t i = 0; i < kFrames; ++i) {
    for (const auto& z : x) frames.push_back(z * static_cast<Real>(i + 1));
    frames.resize(frames.size() + 7);  // a pitch larger than the frame
  }
  const Plan<Real> plan(Template::from_support(shape, false, signal.support),
                        {.backend = Backend::cuda, .path = path});
  const OnDevice<std::complex<Real>> there(frames);
  const DeviceFrames view{there.get(), element_type_of<std::complex<Real>>::value, kFrames,
                          static_cast<std::int64_t>(points + 7)};
  cudaStream_t streams[2];
  for (auto& stream : streams) ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  Workspace<Real> workspaces[2] = {plan.make_workspace(), plan.make_workspace()};
  const Results<Real> results[2] = {{24, kFrames}, {24, kFrames}};
  for (int repeat = 0; repeat < 20; ++repeat) {
    for (int s = 0; s < 2; ++s) plan.enqueue(view, results[s].view(), workspaces[s], streams[s]);
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const auto values = results[0].values.read();
  EXPECT_EQ(values, results[1].values.read());
  EXPECT_EQ(results[0].errors.read(), results[1].errors.read());
  for (std::size_t i = 0; i < kFrames; ++i) {
    std::vector<std::complex<double>> mine;
    for (std::size_t j = 0; j < 24; ++j)
      mine.push_back(std::complex<double>(values[i * 24 + j]) / static_cast<double>(i + 1));
    EXPECT_LE(test::relative_l2(mine, signal.values), plan_bound<Real>(shape)) << to_string(path);
  }
  for (const FrameAccount& account : results[0].accounts.read()) {
    EXPECT_EQ(account.finite, 1);
    EXPECT_LE(account.relative_error, 100 * plan_bound<Real>(shape));
  }

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  const Results<Real> captured(24, kFrames);
  ASSERT_EQ(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal), cudaSuccess);
  plan.enqueue(view, captured.view(), workspaces[0], streams[0]);
  ASSERT_EQ(cudaStreamEndCapture(streams[0], &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  for (int repeat = 0; repeat < 3; ++repeat) ASSERT_EQ(cudaGraphLaunch(executable, streams[0]), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(streams[0]), cudaSuccess);
  EXPECT_EQ(captured.values.read(), values);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  for (auto& stream : streams) cudaStreamDestroy(stream);
}

TEST_F(PlanCuda, EnqueuesOnStreamsAndIntoGraphs) {
  for (const Path path : {Path::comb, Path::flat_window, Path::dense}) {
    check_enqueue<float>(path);
    check_enqueue<double>(path);
  }
}

TEST_F(PlanCuda, ReadsPastTwoToThe31) {
  const std::int64_t n = (std::int64_t{1} << 31) + (std::int64_t{1} << 29);
  if (detail::cuda::device_info(0).memory_bytes < (std::size_t{30} << 30))
    GTEST_SKIP() << "needs 21 GB of memory";
  // One tone, sampled only where the plan looks: the rest stays poison.
  const std::vector<std::int64_t> support{5, n / 3, n - 77};
  const Plan<float> plan(Template::from_support(Shape{n}, false, support), {.backend = Backend::cuda});
  ASSERT_EQ(plan.info().path, Path::comb) << plan.explain();
  const OnDevice<std::complex<float>> there(static_cast<std::size_t>(n));
  // Making the whole period on the host in blocks of 2^20 is slow, so frames are tones of short period.
  const std::int64_t f = n / 3 == support[1] ? support[1] : 0;
  std::vector<std::complex<float>> block(1 << 22);
  for (std::int64_t start = 0; start < n; start += static_cast<std::int64_t>(block.size())) {
    const auto count = std::min<std::int64_t>(static_cast<std::int64_t>(block.size()), n - start);
    // exp(2πi f t / n) by rotation within the block, restarted exactly at its beginning.
    const auto turn = [&](std::int64_t t) {
      const long double a =
          2 * std::numbers::pi_v<long double> *
          static_cast<long double>(static_cast<std::int64_t>(static_cast<__int128>(f) * t % n)) /
          static_cast<long double>(n);
      return std::complex<double>(static_cast<double>(std::cos(a)), static_cast<double>(std::sin(a)));
    };
    std::complex<double> z = turn(start);
    const std::complex<double> step = turn(1);
    for (std::int64_t i = 0; i < count; ++i, z *= step)
      block[static_cast<std::size_t>(i)] = std::complex<float>(z);
    ASSERT_EQ(cudaMemcpy(there.get() + start, block.data(), static_cast<std::size_t>(count) * sizeof block[0],
                         cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  auto workspace = plan.make_workspace();
  const Results<float> results(3, 1);
  plan.enqueue({there.get(), ElementType::c64, 1, 0}, results.view(), workspace, nullptr);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const std::vector<std::complex<double>> truth{0, static_cast<double>(n), 0};
  EXPECT_LE(test::relative_l2(results.values.read(), truth), 1e-5);
}

TEST_F(PlanCuda, ReportsNaNInItsOwnFrameAlone) {
  for (const Path path : {Path::direct, Path::comb, Path::flat_window, Path::dense}) {
    const Shape shape{path == Path::flat_window ? 1021 : 1024};
    const auto signal = SparseSignal::random(shape, false, 5, 2);
    const auto good = signal.as<std::complex<float>>();
    const std::vector<std::complex<float>> bad(good.size(), {std::numeric_limits<float>::quiet_NaN(), 0});
    const std::vector<SignalView> frames{SignalView::line(good), SignalView::line(bad),
                                         SignalView::line(good)};
    const Plan<float> plan(Template::from_support(shape, false, signal.support),
                           {.backend = Backend::cuda, .batch = 3, .path = path});
    auto workspace = plan.make_workspace();
    std::vector<Spectrum<float>> spectra(3);
    plan.execute(frames, spectra, workspace);
    EXPECT_TRUE(spectra[0].finite) << to_string(path);
    EXPECT_FALSE(spectra[1].finite) << to_string(path);
    EXPECT_TRUE(spectra[2].finite) << to_string(path);
    EXPECT_LE(test::relative_l2(spectra[2].values, signal.values), plan_bound<float>(shape))
        << to_string(path);
  }
}

TEST_F(PlanCuda, TracksAFilmAsTheCpuDoes) {
  const Shape shape{240, 320};
  const auto first = test::film_frame(240, 320, 0);
  const Template tmpl = learn(SignalView(first, shape), {.k = 150, .reference = true});
  TrackerOptions options;
  options.plan.backend = Backend::cuda;
  Tracker<float> tracker(tmpl, options);
  for (int t = 1; t < 60; ++t) {
    const auto film = test::film_frame(240, 320, t, t < 30 ? 1 : 2);
    const auto& tracked = tracker.push(SignalView(film, shape));
    const Template& now = tracker.current_template();
    const auto exact = Plan<double>(now, {.path = Path::dense}).execute(SignalView(film, shape));
    const double error = test::relative_l2(tracked.spectrum.values, exact.values);
    EXPECT_LE(error, t >= 30 && t < 34 ? 2 : 0.2) << t << " " << to_string(tracked.action);
  }
  EXPECT_GE(tracker.relearned(), 1);
}

TEST_F(PlanCuda, AutomaticTakesTheGpuWhereThatPays) {
  EXPECT_EQ(unavailable(Backend::cuda), "");
  const std::vector<std::int64_t> few{3, 77, 1000};
  EXPECT_EQ(Plan<float>(Template::from_support(Shape{4096}, false, few)).info().backend, Backend::cpu);
  // A large dense plan: the bus transfer takes a millisecond, the CPU a hundred.
  const Template tmpl = Template::from_support(Shape{1 << 22}, false, few);
  const Plan<float> dense(tmpl, {.path = Path::dense});
  EXPECT_EQ(dense.info().backend, Backend::cuda) << dense.explain();
  std::vector<std::complex<float>> signal(1 << 22);
  std::mt19937 random(3);
  for (auto& sample : signal)
    sample = {static_cast<float>(random() % 100), static_cast<float>(random() % 100)};
  const SignalView view(std::span<const std::complex<float>>(signal), tmpl.shape());
  const Plan<float> host(tmpl, {.backend = Backend::cpu, .path = Path::dense});
  const auto got = dense.execute(view).values, expected = host.execute(view).values;
  for (std::size_t i = 0; i < few.size(); ++i)
    EXPECT_LE(std::abs(got[i] - expected[i]), 1e-5 * std::sqrt(static_cast<double>(signal.size())) * 60);
}

TEST_F(PlanCuda, RefusesWhatDoesNotFit) {
  const Shape shape{4096};
  const auto signal = SparseSignal::random(shape, false, 8, 3);
  const Template tmpl = Template::from_support(shape, false, signal.support);
  const Plan<float> plan(tmpl, {.backend = Backend::cuda});
  const Plan<float> other(tmpl, {.backend = Backend::cuda, .seed = 2});
  const Plan<float> host(tmpl);
  const OnDevice<std::complex<float>> there(4096);
  const Results<float> results(8, 1);
  auto workspace = plan.make_workspace();
  auto wrong = other.make_workspace();
  auto host_workspace = host.make_workspace();
  const DeviceFrames good{there.get(), ElementType::c64, 1, 0};
  const auto enqueue = [&](const Plan<float>& with, DeviceFrames frames, Workspace<float>& own) {
    return code_of([&] { with.enqueue(frames, results.view(), own, nullptr); });
  };
  EXPECT_EQ(enqueue(plan, good, wrong), ErrorCode::invalid_argument);
  EXPECT_EQ(enqueue(host, good, host_workspace), ErrorCode::backend_unavailable);
  EXPECT_EQ(enqueue(plan, {there.get(), ElementType::f32, 1, 0}, workspace), ErrorCode::type_mismatch);
  EXPECT_EQ(enqueue(plan, {there.get(), ElementType::c64, -1, 0}, workspace), ErrorCode::invalid_argument);
  EXPECT_EQ(enqueue(plan, {there.get(), ElementType::c64, 2, 100}, workspace), ErrorCode::invalid_argument);
  EXPECT_EQ(enqueue(plan, {nullptr, ElementType::c64, 1, 0}, workspace), ErrorCode::invalid_argument);
  EXPECT_EQ(enqueue(plan, {there.get(), ElementType::c64, 0, 0}, workspace), std::nullopt);
  EXPECT_EQ(code_of([&] { Plan<float>(tmpl, {.backend = Backend::cuda, .device = 99}); }),
            ErrorCode::backend_unavailable);
}

TEST_F(PlanCuda, SurvivesEveryAllocationFailure) {
  namespace cuda = detail::cuda;
  const Shape shape{240, 320};
  const auto film = test::film_frame(240, 320, 3);
  const Template tmpl =
      learn(SignalView(test::film_frame(240, 320, 0), shape), {.k = 100, .reference = true});
  const SignalView frame(film, shape);
  for (const Path path : {Path::comb, Path::flat_window, Path::dense}) {
    if (path == Path::flat_window) continue;  // not possible for this film
    const auto before = cuda::allocated_bytes();
    std::vector<std::complex<float>> truth;
    int failures = 0;
    for (int n = 1; n < 200; ++n) {
      cuda::fail_allocation(n);
      bool failed = false;
      try {
        const Plan<float> plan(tmpl, {.backend = Backend::cuda, .path = path});
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
    // A workspace that failed half-way works the next time.
    const Plan<float> plan(tmpl, {.backend = Backend::cuda, .path = path});
    for (int n = 1; n < 30; ++n) {
      Workspace<float> workspace;
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
}  // namespace sfft
