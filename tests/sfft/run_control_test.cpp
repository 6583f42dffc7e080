// SPDX-License-Identifier: Apache-2.0
// Tests that long calls report their progress, end on request, and leave everything usable.
#include "sfft/run_control.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <complex>
#include <cstddef>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "bench/long_calls.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/throws.hpp"

namespace sfft::run_control_test {
namespace {

using bench::LongCall;
using bench::noise_with_tones;

std::vector<LongCall> long_calls(int threads) {
  return bench::long_calls(1 << 18, 192, 256, threads);
}

std::optional<ErrorCode> code_of_stopped(const std::function<void()>& work) {
  std::stop_source source;
  source.request_stop();
  return test::code_of([&] { run_with_control(source.get_token(), {}, work); });
}

TEST(RunControl, StopsEveryLongCall) {
  for (const int threads : {1, 3}) {
    for (const LongCall& call : long_calls(threads)) {
      EXPECT_EQ(code_of_stopped([&] { static_cast<void>(call.run()); }), ErrorCode::stopped) << call.name;
    }
  }
}

TEST(RunControl, ChangesNoResult) {
  for (const LongCall& call : long_calls(2)) {
    std::vector<std::byte> watched;
    run_with_control(
        {}, [](const char*, double) { return true; }, [&] { watched = call.run(); });
    EXPECT_EQ(watched, call.run()) << call.name;
  }
}

TEST(RunControl, StopsAtAnyMomentAndLeavesEverythingUsable) {
  std::mt19937 random(5);
  for (const int threads : {1, 2}) {
    for (const LongCall& call : long_calls(threads)) {
      const std::vector<std::byte> expected = call.run();
      const auto start = std::chrono::steady_clock::now();
      static_cast<void>(call.run());
      const double usual_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      for (int n = 0; n < 2; ++n) {
        std::stop_source source;
        const std::chrono::duration<double> wait(usual_s * std::uniform_real_distribution<>(0, 1)(random));
        std::thread other([&] {
          std::this_thread::sleep_for(wait);
          source.request_stop();
        });
        try {
          std::vector<std::byte> found;
          run_with_control(source.get_token(), {}, [&] { found = call.run(); });
          EXPECT_EQ(found, expected) << call.name;
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::stopped) << call.name;
        }
        other.join();
      }
      EXPECT_EQ(call.run(), expected) << call.name;
    }
  }
}

TEST(RunControl, ReportsStagesAndShares) {
  std::vector<std::string> stages;
  const auto x = noise_with_tones(1 << 20, 4, 7);
  const auto thread = std::this_thread::get_id();
  bool elsewhere = false, outside = false;
  run_with_control(
      {},
      [&](const char* stage, double share) {
        stages.emplace_back(stage);
        elsewhere = elsewhere || std::this_thread::get_id() != thread;
        outside = outside || !(share >= 0 && share <= 1);
        return true;
      },
      [&] {
        while (stages.size() < 3)
          static_cast<void>(learn(SignalView::line(x), {.keep = Largest{8}, .threads = 2}));
      });
  for (const std::string& stage : stages) EXPECT_EQ(stage.rfind("dense transform", 0), 0u) << stage;
  EXPECT_FALSE(elsewhere);
  EXPECT_FALSE(outside);
}

TEST(RunControl, ReportsOneShareOfABatch) {
  // Frames that are transformed densely have loops of their own, which must not replace the batch's share.
  const std::size_t frames = 6;
  const auto x = noise_with_tones(1 << 20, 4, 7);
  const auto signal = SignalView::line(x);
  const Plan<float> plan(learn(signal, {.keep = Largest{8}}), {.path = Path::dense});
  const dense::Plan<float> batch(signal.shape(), Domain::complex,
                                 {.batch = static_cast<std::int64_t>(frames)});
  std::vector<std::complex<float>> signals(frames * x.size()), spectra(signals.size());
  const std::vector<SignalView> views(frames, signal);
  std::vector<Spectrum<float>> results(frames, plan.make_spectrum());
  Workspace workspace = plan.make_workspace();
  const auto check = [](const char* expected, const std::function<void()>& run) {
    double before = 0;
    int reports = 0;
    const auto report = [&](const char* stage, double share) {
      EXPECT_STREQ(stage, expected);
      EXPECT_GE(share, before);
      before = share;
      return ++reports < 1000;
    };
    for (int repeat = 0; repeat < 100 && reports < 3; ++repeat) {
      before = 0;
      run_with_control({}, report, run);
    }
    EXPECT_GE(reports, 3);
  };
  check("frames", [&] { plan.execute(views, results, workspace); });
  check("dense transform", [&] { batch.forward(signals.data(), ElementType::c64, spectra); });
}

TEST(RunControl, AReportStopsTheCall) {
  const auto x = noise_with_tones(1 << 18, 4, 8);
  const auto endless = [&] {
    while (true) static_cast<void>(learn(SignalView::line(x), {.keep = Largest{8}}));
  };
  EXPECT_EQ(test::code_of([&] {
              run_with_control(
                  {}, [](const char*, double) { return false; }, endless);
            }),
            ErrorCode::stopped);
  const auto refuse = [](const char*, double) -> bool { throw std::domain_error("full"); };
  EXPECT_THROW(run_with_control({}, refuse, endless), std::domain_error);
}

/// Stops discover() in a stage, at a moment that depends on `random`; returns what it had found. Waiting in
/// reports shifts the next ones, which otherwise come at the same places of calls that take equally long.
Discovery stopped_in(const std::string& stage, const SignalView& signal, std::mt19937& random) {
  Discovery until_stopped;
  unsigned reports_left = random() % 4;
  const auto until = [&](const char* present, double) {
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 50));
    return std::string(present).rfind(stage, 0) != 0 || reports_left-- > 0;
  };
  EXPECT_EQ(test::code_of([&] {
              run_with_control({}, until, [&] {
                while (true) static_cast<void>(discover(signal, {.k = 40, .until_stopped = &until_stopped}));
              });
            }),
            ErrorCode::stopped);
  return until_stopped;
}

TEST(RunControl, KeepsWhatAStoppedDiscoveryHasFound) {
  const auto tones = noise_with_tones(1 << 20, 40, 13);
  const auto blank = noise_with_tones(1 << 18, 0, 14);  // not verified, so a dense transform follows
  std::mt19937 random(6);
  std::vector<Discovery> stopped{stopped_in("dense transform", SignalView::line(blank), random)};
  for (std::size_t found = 0; found == 0; found = stopped.back().spectrum.values.size()) {
    stopped.push_back(stopped_in("discovery", SignalView::line(tones), random));
    ASSERT_LT(stopped.size(), 200u) << "nothing is ever found";
  }
  for (const Discovery& one : stopped) {
    EXPECT_FALSE(one.verified);
    EXPECT_TRUE(std::isinf(one.missed_bound));
    EXPECT_FALSE(one.reason.empty());
    EXPECT_TRUE(one.spectrum.shape == Shape{1 << 18} || one.spectrum.shape == Shape{1 << 20});
    ASSERT_NE(one.spectrum.support, nullptr);
    EXPECT_EQ(one.spectrum.values.size(), one.spectrum.support->size());
    EXPECT_EQ(one.spectrum.standard_error.size(), one.spectrum.support->size());
  }
}

TEST(RunControl, CoversItsThreadAndItsWorkAlone) {
  std::stop_source source;
  source.request_stop();
  const auto x = noise_with_tones(1 << 12, 4, 9);
  const auto learned = [&] { return learn(SignalView::line(x), {.keep = Largest{4}}).k(); };
  run_with_control(source.get_token(), {}, [&] {
    std::thread([&] { EXPECT_EQ(learned(), 4); }).join();
    run_with_control({}, {}, [&] { EXPECT_EQ(learned(), 4); });  // the innermost counts
  });
  EXPECT_EQ(learned(), 4);
  EXPECT_THROW(run_with_control({}, {}, [] { throw std::range_error("of the caller"); }), std::range_error);
}

TEST(RunControl, ATrackerGoesOnAfterAStop) {
  const Template tmpl = learn(SignalView::line(noise_with_tones(4096, 5, 11)), {.keep = Largest{20}});
  Tracker<float> stopped(tmpl), undisturbed(tmpl);
  std::mt19937 random(10);
  for (unsigned frame = 0; frame < 60; ++frame) {
    const auto x = noise_with_tones(4096, 5, frame < 30 ? 11 : 12);
    if (random() % 4 == 0) {
      EXPECT_EQ(code_of_stopped([&] { stopped.push(SignalView::line(noise_with_tones(4096, 0, frame))); }),
                ErrorCode::stopped);
    }
    const auto& result = stopped.push(SignalView::line(x));
    EXPECT_EQ(result.spectrum.values.size(), undisturbed.push(SignalView::line(x)).spectrum.values.size());
    EXPECT_TRUE(std::isfinite(result.spectrum.quality.relative_error));
  }
}

}  // namespace
}  // namespace sfft::run_control_test
