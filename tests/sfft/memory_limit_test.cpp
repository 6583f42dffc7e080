// SPDX-License-Identifier: Apache-2.0
// Tests that calls stay within a limit of memory or say what they need. All memory of the process is
// measured, through operator new.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <numbers>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "sfft/sfft.hpp"
#include "tests/support/throws.hpp"

namespace {

std::atomic<std::size_t> live{0}, peak{0};

/// Notes the size in front of the memory.
void* allocate_measured(std::size_t bytes, std::size_t alignment) {
  const std::size_t front = std::max(alignment, alignof(std::max_align_t));
  auto* const memory =
      static_cast<std::byte*>(std::aligned_alloc(front, front + (bytes + front - 1) / front * front));
  if (memory == nullptr) throw std::bad_alloc();
  std::memcpy(memory + front - sizeof bytes, &bytes, sizeof bytes);
  const std::size_t now = live += bytes;
  std::size_t known = peak;
  while (now > known && !peak.compare_exchange_weak(known, now)) {
  }
  return memory + front;
}
void free_measured(void* memory, std::size_t alignment) {
  if (memory == nullptr) return;
  const std::size_t front = std::max(alignment, alignof(std::max_align_t));
  std::size_t bytes = 0;
  std::memcpy(&bytes, static_cast<std::byte*>(memory) - sizeof bytes, sizeof bytes);
  live -= bytes;
  std::free(static_cast<std::byte*>(memory) - front);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return allocate_measured(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_measured(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate_measured(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate_measured(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  free_measured(memory, 1);
}
void operator delete(void* memory, std::size_t) noexcept {
  free_measured(memory, 1);
}
void operator delete(void* memory, std::align_val_t alignment) noexcept {
  free_measured(memory, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory, std::size_t, std::align_val_t alignment) noexcept {
  free_measured(memory, static_cast<std::size_t>(alignment));
}

namespace sfft {
namespace {

/// What is held but not counted, as sfft/run_control.hpp says.
constexpr std::size_t kSlackBytes = std::size_t{8} << 20;
/// The same for a frequency of a result: index, value and power, and a copy of them.
constexpr std::size_t kResultBytes = 64;
/// The tables of a plan count as this.
constexpr std::size_t kBytesPerFrequency = 2560;

/// The memory that work() needs at the same time.
template <class Work>
std::size_t growth_of(const Work& work) {
  const std::size_t before = live;
  peak = before;
  work();
  return peak - before;
}

using Random = std::mt19937_64;

std::int64_t drawn(Random& random, std::int64_t first, std::int64_t last) {
  return std::uniform_int_distribution<std::int64_t>(first, last)(random);
}

/// Tones in noise.
template <class T>
std::vector<T> signal_of(const Shape& shape, Random& random, double noise) {
  std::vector<T> x(static_cast<std::size_t>(shape.points()));
  std::vector<double> tones;
  for (int n = 0; n < 4; ++n) tones.push_back(static_cast<double>(drawn(random, 1, shape.points() / 3)));
  std::normal_distribution<double> normal;
  for (std::size_t t = 0; t < x.size(); ++t) {
    double sum = noise * normal(random);
    for (const double f : tones) {
      const double turns = f * static_cast<double>(t) / static_cast<double>(x.size());
      sum += std::cos(2 * std::numbers::pi * (turns - std::floor(turns)));
    }
    x[t] = static_cast<T>(sum);
  }
  return x;
}

Shape drawn_shape(Random& random) {
  const bool large = std::getenv("SFFT_LONG_TEST") != nullptr;
  const std::int64_t scale = large ? 4 : 1;
  switch (drawn(random, 0, 4)) {
    case 0:
      return Shape{scale << 19};
    case 1:
      return Shape{scale * drawn(random, 300'000, 600'000)};
    case 2:
      return {540 * (large ? 2 : 1), 960 * (large ? 2 : 1)};
    case 3:
      return {scale * drawn(random, 200, 700), drawn(random, 400, 900)};
    default:
      return {scale * drawn(random, 20, 40), 108, drawn(random, 90, 130)};
  }
}

/// A call of the population, and what it is.
struct Call {
  std::string name;
  std::size_t k;
  std::function<void()> run;
};

template <class T>
Call drawn_call(Random& random) {
  const Shape shape = drawn_shape(random);
  const double noise = random() % 3 == 0 ? 0 : 0.05;
  const auto x = std::make_shared<std::vector<T>>(signal_of<T>(shape, random, noise));
  const auto pure = std::make_shared<std::vector<T>>(signal_of<T>(shape, random, 9));
  const auto view = [x, shape] { return SignalView(*x, shape); };
  const int threads = static_cast<int>(drawn(random, 1, 3));
  const std::int64_t k = std::int64_t{1} << drawn(random, 2, 13);
  const std::string what = shape.to_string() + " " + to_string(view().type()) + ", " +
                           std::to_string(threads) + " threads, k = " + std::to_string(k) + ": ";
  const auto tmpl = std::make_shared<std::optional<Template>>();
  const auto templated = [&](auto run) {
    *tmpl = learn(view(), {.keep = Largest{k}, .reference = random() % 2 == 0});
    return [tmpl, run] { run(**tmpl); };
  };
  const auto is_float = sizeof(T) == sizeof(float);
  switch (drawn(random, 0, 13)) {
    case 0:
      return {what + "learn", static_cast<std::size_t>(k),
              [=] { static_cast<void>(learn(view(), {.keep = Largest{k}, .threads = threads})); }};
    case 1:
      return {what + "learn with a reference", static_cast<std::size_t>(k), [=] {
                static_cast<void>(learn(view(), {.keep = Largest{k}, .reference = true, .threads = threads}));
              }};
    case 2:
      return {what + "learn energy", static_cast<std::size_t>(k),
              [=] { static_cast<void>(learn(view(), {.keep = Energy{0.5}, .threads = threads})); }};
    case 3:
      return {what + "learn two frames", static_cast<std::size_t>(k), [=] {
                const std::vector<SignalView> frames{view(), view()};
                static_cast<void>(learn(frames, {.keep = Largest{k}, .threads = threads}));
              }};
    case 4:
      return {what + "learn_at", static_cast<std::size_t>(k), [=] {
                static_cast<void>(learn_at(view(), std::vector<std::int64_t>{1, 3, 7}, threads));
              }};
    case 5:
      return {what + "discover", static_cast<std::size_t>(k),
              [=] { static_cast<void>(discover(view(), {.k = 4, .threads = threads})); }};
    case 6:
      return {what + "plan", static_cast<std::size_t>(k), templated([=](const Template& of) {
                static_cast<void>(Plan<float>(of, {.threads = threads}));
              })};
    case 7:
      return {what + "thorough plan", static_cast<std::size_t>(k), templated([=](const Template& of) {
                static_cast<void>(Plan<double>(of, {.effort = PlanEffort::thorough, .threads = threads}));
              })};
    case 8:
      return {what + "dense plan and frame", static_cast<std::size_t>(k), templated([=](const Template& of) {
                static_cast<void>(Plan<float>(of, {.path = Path::dense, .threads = threads}).execute(view()));
              })};
    case 9:
      return {what + "half of all frequencies", static_cast<std::size_t>(shape.points() / 2), [=] {
                static_cast<void>(learn(SignalView(*pure, shape), {.keep = Energy{0.7}, .threads = threads}));
              }};
    case 10:
      return {what + "flat window", static_cast<std::size_t>(k), templated([=](const Template& of) {
                try {
                  static_cast<void>(Plan<float>(of, {.path = Path::flat_window}));
                } catch (const Error& error) {
                  if (error.code() != ErrorCode::not_sparse) throw;
                }
              })};
    case 11:
      return {what + "dense plan", static_cast<std::size_t>(k), [=] {
                const dense::Plan<T> plan(shape, Domain::real, {.threads = threads});
                static_cast<void>(plan.make_workspace());
                if (is_float) static_cast<void>(dense::Plan<double>(shape, Domain::complex).reason());
              }};
    case 12:
      return {what + "selective plan", static_cast<std::size_t>(k), [=] {
                const auto plan = dense::SelectivePlan<T>::above(shape, Domain::real, {.threads = threads});
                static_cast<void>(plan.forward_above(x->data(), view().type(), static_cast<T>(1e9)));
              }};
    default:
      return {what + "tracker", static_cast<std::size_t>(k), templated([=](const Template& of) {
                Tracker<float> tracker(of, {.plan = {.threads = threads}});
                for (int n = 0; n < 4; ++n) tracker.push(view());
              })};
  }
}

/// The first number of the error's sentence: the bytes that are needed.
std::size_t needed_bytes(const std::string& message) {
  const std::size_t at = message.find_first_of("0123456789");
  return at == std::string::npos ? 0 : std::strtoull(message.c_str() + at, nullptr, 10);
}

TEST(MemoryLimit, HoldsInAPopulationOfCalls) {
  Random random(7);
  const int calls = std::getenv("SFFT_LONG_TEST") != nullptr ? 150 : 60;
  std::size_t largest_excess = 0;
  int refused = 0;
  for (int n = 0; n < calls; ++n) {
    const Call call = random() % 2 == 0 ? drawn_call<float>(random) : drawn_call<double>(random);
    call.run();  // what the process keeps for all calls
    const std::size_t needed = growth_of(call.run);
    const auto limit = static_cast<std::size_t>(std::uniform_real_distribution<>(0, 1.2)(random) *
                                                static_cast<double>(needed));
    const std::size_t growth = growth_of([&] {
      try {
        run_with_memory_limit(limit, call.run);
      } catch (const Error& error) {
        ++refused;
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << call.name << ": " << error.what();
        EXPECT_GT(needed_bytes(error.what()), limit) << call.name << ": " << error.what();
        EXPECT_NE(std::string(error.what()).find(std::to_string(limit)), std::string::npos) << error.what();
      }
    });
    // Estimates of what a plan holds are not far above the truth.
    const std::size_t ample = needed + needed / 2 + kSlackBytes + call.k * kBytesPerFrequency;
    EXPECT_EQ(test::code_of([&] { run_with_memory_limit(ample, call.run); }), std::nullopt) << call.name;
    EXPECT_LE(growth, limit + kSlackBytes + call.k * kResultBytes) << call.name << ", which needs " << needed;
    if (growth > limit + call.k * kResultBytes)
      largest_excess = std::max(largest_excess, growth - limit - call.k * kResultBytes);
    if (std::getenv("SFFT_LONG_TEST") != nullptr && growth > limit + kSlackBytes / 4)
      std::printf("%s: limit %zu, %zu more\n", call.name.c_str(), limit, growth - limit);
  }
  EXPECT_GT(refused, calls / 5);
  std::printf("%d calls, %d refused; at most %zu bytes above the limit\n", calls, refused, largest_excess);
}

TEST(MemoryLimit, NamesAllThatLearningNeeds) {
  Random random(1);
  const Shape shape{1 << 19};
  const auto x = signal_of<float>(shape, random, 0.05);
  const auto call = [&] { static_cast<void>(learn(SignalView(x, shape), {.keep = Energy{0.5}})); };
  call();
  std::string message;
  try {
    run_with_memory_limit(1, call);
  } catch (const Error& error) {
    message = error.what();
  }
  const std::size_t needed = needed_bytes(message);
  EXPECT_GT(needed, growth_of(call) * 9 / 10) << message;
  // A tenth more suffices.
  EXPECT_EQ(test::code_of([&] { run_with_memory_limit(needed + needed / 10, call); }), std::nullopt);
}

TEST(MemoryLimit, CountsWhatIsHeldAndNothingElse) {
  Random random(2);
  const Shape shape{1 << 18};
  const auto x = signal_of<float>(shape, random, 0.05);
  const auto learned = [&] { return learn(SignalView(x, shape), {.keep = Largest{8}, .reference = true}); };
  constexpr std::size_t kLimit = std::size_t{12} << 20;
  std::optional<Template> kept;
  run_with_memory_limit(kLimit, [&] {
    for (int n = 0; n < 20; ++n) kept = learned();
    std::thread([&] {  // without a limit
      for (int n = 0; n < 20; ++n) static_cast<void>(learned());
    })
        .join();
    run_with_memory_limit(1, [&] { EXPECT_EQ(test::code_of(learned), ErrorCode::out_of_memory); });
    std::vector<Template> many;
    EXPECT_EQ(test::code_of([&] {
                while (many.size() < 100) many.push_back(learned());
              }),
              ErrorCode::out_of_memory);
    many.clear();
    static_cast<void>(learned());
  });
  static_cast<void>(Plan<float>(*kept));  // results outlive the limit
}

TEST(MemoryLimit, PlansWithAShorterSearch) {
  Random random(3);
  const Shape shape{540, 960};
  const auto x = signal_of<float>(shape, random, 0.05);
  const Template tmpl = learn(SignalView(x, shape), {.keep = Largest{2000}});
  const auto planned = [&] { return Plan<float>(tmpl, {.effort = PlanEffort::thorough}); };
  static_cast<void>(planned());
  const std::size_t thorough = growth_of([&] { static_cast<void>(planned()); });
  const std::size_t limit = thorough / 2;
  std::optional<Plan<float>> plan;
  run_with_memory_limit(limit, [&] { plan = planned(); });
  EXPECT_LT(plan->info().plan_seconds, 60);
  Workspace workspace;
  Spectrum<float> spectrum;
  plan->execute(SignalView(x, shape), spectrum, workspace);
  EXPECT_TRUE(std::isfinite(spectrum.quality.relative_error));
}

}  // namespace
}  // namespace sfft
