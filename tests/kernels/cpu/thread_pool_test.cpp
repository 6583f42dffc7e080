// SPDX-License-Identifier: Apache-2.0
// Tests that work runs on as many threads as the system starts, or on the caller alone if it starts none, and
// that threads persist from one loan to the next.
#include "kernels/cpu/platform/thread_pool.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <limits>
#include <numbers>
#include <thread>
#include <vector>

#include "bench/known_signals.hpp"
#include "kernels/cpu/platform/pool_loan.hpp"
#include "sfft/dense.hpp"
#include "sfft/plan.hpp"
#include "tests/support/throws.hpp"

namespace {
std::atomic<int> may_start{std::numeric_limits<int>::max()};
}

/// Replaces the system's function. Calls the original while threads are allowed.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) {
  if (may_start.fetch_sub(1) <= 0) return EAGAIN;
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, start, argument);
}

namespace sfft {
namespace {

class Threads : public testing::Test {
 protected:
  ~Threads() override { may_start = std::numeric_limits<int>::max(); }
};

TEST_F(Threads, ThatDoNotStartAreDoneWithout) {
  for (int started = 0; started <= 7; ++started) {
    may_start = started;
    detail::cpu::ThreadPool pool(8);
    EXPECT_EQ(pool.threads(), 8);
    std::vector<std::atomic<int>> done(1000);
    std::array<std::atomic<int>, 8> by{};
    std::atomic<int> strangers{0};
    pool.run(1000, [&](std::int64_t part, int thread) {
      ++done[static_cast<std::size_t>(part)];
      if (thread < 0 || thread >= 8) {
        ++strangers;
      } else {
        ++by[static_cast<std::size_t>(thread)];
      }
    });
    EXPECT_EQ(strangers, 0);
    for (const auto& times : done) EXPECT_EQ(times, 1);
    EXPECT_LE(std::count_if(by.begin(), by.end(), [](const auto& parts) { return parts > 0; }), started + 1);
  }
}

/// Sums the numbers of the first parts by a pool, which may be absent.
std::int64_t sum(detail::cpu::ThreadPool* pool, std::size_t parts) {
  std::atomic<std::int64_t> total{0};
  detail::cpu::for_each(pool, parts,
                        [&](std::size_t part, int) { total += static_cast<std::int64_t>(part); });
  return total;
}

TEST_F(Threads, OfALoanServeTheNext) {
  may_start = 100;
  {
    const detail::cpu::PoolLoan first(5);
    ASSERT_NE(first.get(), nullptr);
    while (may_start > 96) std::this_thread::yield();
    for (int job = 0; job < 50; ++job) EXPECT_EQ(sum(first.get(), 100), 4950);
    const detail::cpu::PoolLoan second(5);  // the first pool is in use
    while (may_start > 92) std::this_thread::yield();
    EXPECT_NE(second.get(), first.get());
    EXPECT_EQ(sum(second.get(), 100), 4950);
  }
  for (int loan = 0; loan < 20; ++loan) {
    const detail::cpu::PoolLoan next(5);
    for (int job = 0; job < 5; ++job) EXPECT_EQ(sum(next.get(), 100), 4950);
  }
  EXPECT_EQ(may_start, 92) << "no more threads were started";
  EXPECT_EQ(detail::cpu::PoolLoan(1).get(), nullptr);
}

TEST_F(Threads, RefusedOnceAreRequestedAgain) {
  may_start = 0;
  {
    const detail::cpu::PoolLoan loan(6);
    EXPECT_EQ(sum(loan.get(), 100), 4950);
  }
  may_start = 100;
  const detail::cpu::PoolLoan loan(6);
  while (may_start > 95) std::this_thread::yield();
  EXPECT_EQ(sum(loan.get(), 100), 4950);
}

TEST_F(Threads, OfALoanAreNotMissedByAChildProcess) {
  {
    const detail::cpu::PoolLoan loan(4);
    EXPECT_EQ(sum(loan.get(), 100), 4950);
  }
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {  // the child has a copy of the pool, but not its threads
    const detail::cpu::PoolLoan loan(4);
    bool right = true;
    for (int job = 0; job < 20; ++job) right = right && sum(loan.get(), 100) == 4950;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Threads, PlansGiveTheSameWithoutThem) {
  const Shape shape{4096};
  const auto signal = test::SparseSignal::random(shape, false, 6, 1);
  const auto x = signal.as<std::complex<float>>();
  for (const int started : {0, 1}) {
    may_start = started;
    const Plan<float> plan(Template::from_support(shape, Domain::complex, signal.support), {.threads = 4});
    auto spectrum = plan.make_spectrum();
    auto workspace = plan.make_workspace();
    plan.execute(SignalView::line(x), spectrum, workspace);
    for (std::size_t i = 0; i < signal.support.size(); ++i)
      EXPECT_LE(std::abs(std::complex<double>(spectrum.values[i]) - signal.values[i]),
                1e-3 * std::abs(signal.values[i]));

    may_start = started;
    const dense::Plan<float> dense(Shape{64}, Domain::complex, {.threads = 4, .batch = 64});
    std::vector<std::complex<float>> spectra(4096);
    dense.forward(x.data(), ElementType::c64, spectra);
    for (std::size_t row = 0; row < 64; row += 7) {
      const std::vector<std::complex<double>> samples(
          x.begin() + static_cast<std::ptrdiff_t>(64 * row),
          x.begin() + static_cast<std::ptrdiff_t>(64 * (row + 1)));
      for (std::int64_t f = 0; f < 64; ++f) {
        std::complex<double> sum = 0;
        for (std::int64_t t = 0; t < 64; ++t)
          sum += samples[static_cast<std::size_t>(t)] *
                 std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(f * t % 64) / 64);
        EXPECT_LE(std::abs(std::complex<double>(spectra[64 * row + static_cast<std::size_t>(f)]) - sum),
                  1e-3);
      }
    }
  }
}

}  // namespace
}  // namespace sfft
