// SPDX-License-Identifier: Apache-2.0
// Tests the ranges that profilers see. A listener is loaded by NVTX as a profiler is.
#include <gtest/gtest.h>

#include "sfft_build_config.hpp"
#if SFFT_HAVE_NVTX

#include <dlfcn.h>

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <stop_token>
#include <string>
#include <vector>

#include "sfft/sfft.hpp"
#include "tests/support/throws.hpp"

namespace sfft::trace_test {
namespace {

/// NVTX reads the environment at the first range of the process.
const bool named = ::setenv("NVTX_INJECTION64_PATH", SFFT_TEST_NVTX_LISTENER, 1) == 0;

std::string ranges_since_last() {
  // The library that NVTX has loaded.
  static const auto take = [] {
    void* const listener = ::dlopen(SFFT_TEST_NVTX_LISTENER, RTLD_NOW);
    return reinterpret_cast<void (*)(std::string&)>(::dlsym(listener, "sfft_take_ranges"));
  }();
  std::string ranges;
  take(ranges);
  return ranges;
}

template <class Work>
std::string ranges_of(const Work& work) {
  static_cast<void>(ranges_since_last());
  work();
  return ranges_since_last();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

void expect_balanced(const std::string& ranges) {
  int depth = 0;
  for (const char c : ranges) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    ASSERT_GE(depth, 0) << ranges;
  }
  EXPECT_EQ(depth, 0) << ranges;
}

std::vector<float> tones(std::size_t points) {
  std::vector<float> x(points);
  for (std::size_t t = 0; t < points; ++t) {
    const double turns = static_cast<double>(t) / static_cast<double>(points);
    for (const int f : {5, 130, 377}) x[t] += static_cast<float>(std::cos(2 * std::numbers::pi * f * turns));
    x[t] += 0.01f * std::sin(static_cast<float>(t * t % 1009));
  }
  return x;
}

class Trace : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(named); }
  std::vector<float> x = tones(1 << 14);
  SignalView signal = SignalView::line(x);
};

TEST_F(Trace, NamesLearningAndItsStages) {
  EXPECT_EQ(ranges_of([&] {
              static_cast<void>(learn(signal, {.keep = Largest{8}, .method = LearnOptions::Method::dense}));
            }),
            "(learn(dense transform: first pass)(dense transform: second pass, selection))");
  EXPECT_EQ(ranges_of([&] {
              const std::vector<std::int64_t> support{5, 130};
              static_cast<void>(learn_at(signal, support));
            }),
            "(learn_at(dense transform: first pass)(dense transform: second pass)(learning: powers))");
}

TEST_F(Trace, NamesPlanningFramesAndDiscovery) {
  const Template tmpl = learn(signal, {.keep = Largest{8}});
  const std::string planning = ranges_of([&] { static_cast<void>(Plan<float>(tmpl)); });
  EXPECT_EQ(planning.rfind("(plan(planning)", 0), 0u) << planning;
  expect_balanced(planning);

  const Plan<float> plan(tmpl, {.threads = 2});
  Workspace workspace = plan.make_workspace();
  const std::vector<SignalView> frames(5, signal);
  std::vector<Spectrum<float>> spectra(5);
  const std::string executing = ranges_of([&] { plan.execute(frames, spectra, workspace); });
  EXPECT_EQ(count(executing, "(execute"), 1u) << executing;
  EXPECT_EQ(count(executing, "(frame)"), 5u) << executing;
  expect_balanced(executing);

  const std::string discovering = ranges_of([&] { static_cast<void>(discover(signal, {.k = 3})); });
  EXPECT_EQ(discovering.rfind("(discover(discovery(discovery: rounds)", 0), 0u) << discovering;
  expect_balanced(discovering);
}

TEST_F(Trace, NamesDenseTransformsAndTrackedFrames) {
  const std::vector<std::complex<float>> from(4096);
  std::vector<std::complex<float>> to(4096);
  EXPECT_EQ(ranges_of([&] {
              const dense::Plan<float> plan(Shape{4096}, Domain::complex);
              plan.forward(SignalView::line(from), to);
              plan.inverse(from, to);
            }),
            "(dense: plan)(dense: forward(dense transform))(dense: inverse(dense transform))");

  Tracker<float> tracker(learn(signal, {.keep = Largest{8}}));
  const std::vector<SignalView> frames(3, signal);
  const std::string tracking = ranges_of([&] { tracker.push(frames); });
  EXPECT_EQ(count(tracking, "(tracker: push"), 1u) << tracking;
  EXPECT_EQ(count(tracking, "(tracker: frame"), 3u) << tracking;
  expect_balanced(tracking);
}

TEST_F(Trace, EndsAllRangesOfACallThatThrows) {
  const std::string stopped = ranges_of([&] {
    std::stop_source source;
    source.request_stop();
    EXPECT_EQ(test::code_of([&] {
                run_with_control(source.get_token(), {},
                                 [&] { static_cast<void>(learn(signal, {.keep = Largest{8}})); });
              }),
              ErrorCode::stopped);
  });
  EXPECT_EQ(stopped.rfind("(learn", 0), 0u) << stopped;
  expect_balanced(stopped);
}

}  // namespace
}  // namespace sfft::trace_test

#else

TEST(Trace, NeedsNvtx) {
  GTEST_SKIP() << "this build has no CUDA, and NVTX is part of its toolkit";
}

#endif
