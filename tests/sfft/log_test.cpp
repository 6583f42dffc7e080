// SPDX-License-Identifier: Apache-2.0
// Tests that decisions are logged, and that a receiver may fail, change and call the library.
#include "sfft/log.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sfft/sfft.hpp"
#include "tests/support/throws.hpp"

namespace sfft::log_test {
namespace {

using Messages = std::vector<std::pair<std::string, std::string>>;

/// What work() logs.
template <class Work>
Messages logged(const Work& work) {
  Messages messages;
  set_log([&](std::string_view topic, std::string_view message) { messages.emplace_back(topic, message); });
  work();
  set_log({});
  return messages;
}

/// The messages of a topic, a line each.
std::string about(const Messages& messages, const std::string& topic) {
  std::string text;
  for (const auto& [found, message] : messages)
    if (found == topic) text += message + "\n";
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<float> tones(std::size_t points, double noise, unsigned first) {
  std::vector<float> x(points);
  for (std::size_t t = 0; t < points; ++t) {
    const double turns = static_cast<double>(t) / static_cast<double>(points);
    for (const unsigned f : {first, 130u, 377u})
      x[t] += static_cast<float>(std::cos(2 * std::numbers::pi * f * turns));
    x[t] += static_cast<float>(noise * std::sin(static_cast<double>(t * t % 1009)));
  }
  return x;
}

class LogTest : public testing::Test {
 protected:
  ~LogTest() override { set_log({}); }
  std::vector<float> x = tones(1 << 14, 0.01, 5);
  SignalView signal = SignalView::line(x);
};

TEST_F(LogTest, SaysWhatWasDecidedAndWhy) {
  const Messages learning = logged([&] { static_cast<void>(learn(signal, {.keep = Largest{8}})); });
  EXPECT_TRUE(contains(about(learning, "learn"), "8 frequencies of real 16384")) << about(learning, "learn");

  const Template tmpl = learn(signal, {.keep = Largest{8}});
  std::string engine;
  const Messages planning =
      logged([&] { engine = Plan<float>(tmpl, {.device = Device::cpu()}).info().engine; });
  const std::string plan = about(planning, "plan");
  EXPECT_TRUE(contains(plan, "real 16384, k = 8: ")) << plan;
  EXPECT_TRUE(contains(plan, engine)) << plan;
  EXPECT_TRUE(contains(plan, "predicted")) << plan;

  const Messages found =
      logged([&] { static_cast<void>(discover(signal, {.k = 3, .dense_fallback = false})); });
  EXPECT_TRUE(contains(about(found, "discovery"), " rounds, ")) << about(found, "discovery");

  std::string reason;
  const Messages dense = logged([&] {
    reason = dense::Plan<double>(Shape{12, 35}, Domain::complex).reason();
  });
  EXPECT_TRUE(contains(about(dense, "dense"), "f64 c2c 12x35, batch 1: ")) << about(dense, "dense");
  EXPECT_TRUE(contains(about(dense, "dense"), reason)) << about(dense, "dense");
}

TEST_F(LogTest, SaysWhyWisdomIsIgnored) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "sfft_log_test_wisdom.json";
  std::ofstream(file) << "no wisdom";
  std::string reason;
  const Messages loading = logged([&] { reason = dense::load_wisdom(file.string()).reason; });
  std::filesystem::remove(file);
  EXPECT_FALSE(reason.empty());
  EXPECT_TRUE(contains(about(loading, "wisdom"), reason)) << about(loading, "wisdom");
}

TEST_F(LogTest, SaysWhatATrackerDoes) {
  const auto other = tones(1 << 14, 0.01, 1111);
  Tracker<float> tracker(learn(signal, {.keep = Largest{8}}));
  std::string actions;
  const Messages tracking = logged([&] {
    for (int n = 0; n < 12; ++n) {
      const auto& frame = tracker.push(SignalView::line(n < 3 ? x : other));
      if (frame.action == TrackedFrame::Action::sparse) continue;
      actions += "frame " + std::to_string(frame.index) + ": " + to_string(frame.action) + ": " +
                 frame.reason + "\n";
    }
  });
  EXPECT_GT(tracker.relearned(), 0);
  EXPECT_EQ(about(tracking, "tracker"), actions);
}

TEST_F(LogTest, DiscardsExceptionsOfTheReceiver) {
  int calls = 0;
  const Template tmpl = learn(signal, {.keep = Largest{8}});
  set_log([&](std::string_view, std::string_view) {
    ++calls;
    throw std::runtime_error("full");
  });
  EXPECT_EQ(learn(signal, {.keep = Largest{8}}).k(), tmpl.k());
  EXPECT_EQ(learn(signal, {.keep = Largest{8}}).k(), tmpl.k());
  EXPECT_GE(calls, 2);
}

TEST_F(LogTest, AReceiverMayCallTheLibraryButNotReplaceItself) {
  int calls = 0;
  std::optional<ErrorCode> code;
  set_log([&](std::string_view, std::string_view) {
    ++calls;
    EXPECT_EQ(learn(signal, {.keep = Largest{4}}).k(), 4);
    code = test::code_of([] { set_log({}); });
  });
  static_cast<void>(learn_at(signal, std::vector<std::int64_t>{5}));
  set_log({});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(code, ErrorCode::invalid_argument);
}

TEST_F(LogTest, MayChangeWhileOtherThreadsCall) {
  std::atomic<bool> ended = false;
  std::atomic<int> received = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!ended) static_cast<void>(learn_at(signal, std::vector<std::int64_t>{5, 130}));
    });
  }
  for (int n = 0; n < 200 || received < 20; ++n) {
    auto alive = std::make_unique<std::atomic<bool>>(true);
    std::atomic<int> inside = 0;
    set_log([&, valid = alive.get()](std::string_view, std::string_view) {
      EXPECT_EQ(++inside, 1);  // one thread at a time
      EXPECT_TRUE(*valid);
      ++received;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      EXPECT_TRUE(*valid);
      --inside;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(n % 7 * 100));
    set_log({});
    *alive = false;  // the receiver is not running now, so it does not see this
    alive.reset();
  }
  ended = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace sfft::log_test
