// SPDX-License-Identifier: Apache-2.0
// Tests out-of-core transforms against direct sums, on the host alone and with an emulated device. The device
// has little memory, so that there are passes, streams and shares.
#include "kernels/dense/out_of_core/out_of_core_fft.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <thread>

#include "sfft/run_control.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/emulated_device.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::out_of_core_test {
namespace {

using detail::OutOfCoreFft;
using detail::OutOfCoreOptions;
using test::as_samples;
using test::code_of;
using test::ComplexSignal;
using test::EmulatedDevice;
using test::EmulatedState;
using test::expected_spectra;
using test::fft_bound;
using test::random_signal;
using test::relative_l2;

/// Shapes with even, odd and prime sides, a single row or column, and extents of 1.
std::vector<Shape> shapes() {
  return {Shape({24, 40}),   Shape({37, 50}),    Shape({50, 37}),    Shape({2, 300}),
          Shape({300, 2}),   Shape({64, 1}),     Shape({8, 12, 10}), Shape({13, 1, 22}),
          Shape({3, 31, 7}), Shape({21, 16, 1}), Shape({61, 67})};
}

template <class Real>
class OutOfCoreTest : public testing::Test {
 protected:
  using Values = std::vector<std::complex<Real>>;

  struct Plan {
    std::shared_ptr<EmulatedState> state;  ///< state of the first device
    std::vector<std::shared_ptr<EmulatedState>> states;
    std::unique_ptr<OutOfCoreFft> fft;
  };

  /// The budget of a device with memory for `factor` smallest pieces of either round, including workspace.
  static std::size_t budget(const Shape& shape, double factor) {
    const std::int64_t inner = shape.points() / shape[0];
    const auto column_group = shape[0] * std::min<std::int64_t>(16, inner);
    const auto min = static_cast<double>(2 * std::max(column_group, inner)) * sizeof(std::complex<Real>);
    return static_cast<std::size_t>(factor * (min + 1024));
  }
  static Plan plan(const Shape& shape, std::size_t bytes, double share, int threads, bool packed = false,
                   int devices = 1) {
    Plan made;
    made.state = std::make_shared<EmulatedState>(bytes);
    made.fft = std::make_unique<OutOfCoreFft>(
        shape, sizeof(std::complex<Real>),
        emulated_devices<Real>(made.state, bytes == 0 ? 0 : devices, &made.states),
        OutOfCoreOptions{static_cast<std::int64_t>(bytes), share, threads, 1000,
                         OutOfCoreOptions{}.longest_line, false, packed});
    return made;
  }
  static void transform(const OutOfCoreFft& fft, const Values& from, Values& to, bool inverse,
                        Real scale = 1) {
    std::vector<std::byte> memory(static_cast<std::size_t>(fft.workspace_bytes()) + 64);
    std::byte* const workspace = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
    fft.transform(from.data(), to.data(), inverse, scale, workspace);
  }
  /// Calls in place equal other calls bit for bit if both partition the work alike; measured shares may
  /// differ.
  static void check(const OutOfCoreFft& fft, const Shape& shape, bool shared_alike = true) {
    const auto signal =
        as_samples<std::complex<Real>>(random_signal(static_cast<std::size_t>(shape.points()), 41));
    const ComplexSignal sums = expected_spectra(signal, shape, false);
    const double bound = fft_bound<Real>(static_cast<double>(shape.points()));
    Values spectrum(signal.size(), std::complex<Real>(-5)), in_place = signal;
    transform(fft, signal, spectrum, false);
    EXPECT_LE(relative_l2(spectrum, sums), bound);
    transform(fft, in_place, in_place, false);
    EXPECT_LE(relative_l2(in_place, sums), bound);
    if (shared_alike) {
      EXPECT_EQ(in_place, spectrum);
    }
    const auto scale = static_cast<Real>(1 / static_cast<double>(shape.points()));
    Values back(signal.size());
    transform(fft, spectrum, back, true, scale);
    EXPECT_LE(relative_l2(back, signal), 2 * bound);
    transform(fft, in_place, in_place, true, scale);
    EXPECT_LE(relative_l2(in_place, signal), 2 * bound);
    if (shared_alike) {
      EXPECT_EQ(in_place, back);
    }
    Values halved(signal.size()), half = sums.empty() ? Values{} : Values(sums.begin(), sums.end());
    for (auto& value : half) value *= Real(0.5);
    transform(fft, signal, halved, false, Real(0.5));
    EXPECT_LE(relative_l2(halved, half), 2 * bound);
  }
};
/// Values cross the bus in block16; each trip adds an error of 3e-5 for Gaussian values.
class PackedOutOfCore : public OutOfCoreTest<float> {
 protected:
  /// Calls in place equal other calls bit for bit if both partition the work alike. Measured shares may
  /// differ, and values that stay on the host are not packed.
  static void check(const OutOfCoreFft& fft, const Shape& shape, const std::string& explained,
                    bool shared_alike = true) {
    SCOPED_TRACE(shape.to_string() + "\n" + explained);
    constexpr double kBound = 2e-4;
    const auto signal =
        as_samples<std::complex<float>>(random_signal(static_cast<std::size_t>(shape.points()), 41));
    const ComplexSignal sums = expected_spectra(signal, shape, false);
    Values spectrum(signal.size(), std::complex<float>(-5)), in_place = signal, back(signal.size());
    transform(fft, signal, spectrum, false);
    EXPECT_LE(relative_l2(spectrum, sums), kBound);
    EXPECT_GE(relative_l2(spectrum, sums), 5e-6) << "nothing was packed";
    transform(fft, in_place, in_place, false);
    EXPECT_LE(relative_l2(in_place, sums), kBound);
    if (shared_alike) {
      EXPECT_EQ(in_place, spectrum);
    }
    transform(fft, spectrum, back, true, 1 / static_cast<float>(shape.points()));
    EXPECT_LE(relative_l2(back, signal), 2 * kBound);
  }
};
TEST_F(PackedOutOfCore, EqualsSumsToFifteenBits) {
  for (const Shape& shape : shapes()) {
    for (const int threads : {1, 2, 5}) {
      for (const double share : {0.0, 0.4}) {
        const auto made = plan(shape, budget(shape, 20), share, threads, true);
        if (made.fft->host_shares()[0] == 1) continue;  // the host takes all of the few columns
        check(*made.fft, shape, made.fft->explain());
        EXPECT_NE(made.fft->explain().find("block16"), std::string::npos);
        EXPECT_LE(made.state->max_used, made.state->budget);
      }
    }
  }
}
TEST_F(PackedOutOfCore, MeasuresItsShares) {
  const Shape shape{96, 80};
  const auto made = plan(shape, budget(shape, 12), -1, 3, true);
  made.fft->measure();
  if (made.fft->host_shares()[0] < 1) check(*made.fft, shape, made.fft->explain(), false);
}
TEST_F(PackedOutOfCore, ValuesOfAllSizesSurvive) {
  const Shape shape{32, 48};
  const auto made = plan(shape, budget(shape, 12), 0, 2, true);
  for (const float size : {1e-30F, 1e30F}) {
    Values signal(static_cast<std::size_t>(shape.points())), spectrum(signal.size());
    signal[7] = size;
    transform(*made.fft, signal, spectrum, false);
    for (const auto& value : spectrum) ASSERT_NEAR(std::abs(value) / size, 1, 2e-4);
  }
}

using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(OutOfCoreTest, Reals);

TYPED_TEST(OutOfCoreTest, TheHostAloneEqualsSums) {
  for (const Shape& shape : shapes()) {
    for (const int threads : {1, 2, 5}) {
      SCOPED_TRACE(shape.to_string());
      const auto made = this->plan(shape, 0, 1, threads);
      this->check(*made.fft, shape);
    }
  }
}

TYPED_TEST(OutOfCoreTest, AnyShareAndBudgetEqualSums) {
  for (const Shape& shape : shapes()) {
    for (const double factor : {1.0, 2.5, 40.0}) {
      for (const double share : {0.0, 0.3, 0.77, 1.0, -1.0}) {
        SCOPED_TRACE(shape.to_string() + " budget " + std::to_string(factor) + " share " +
                     std::to_string(share));
        const auto made = this->plan(shape, this->budget(shape, factor), share, 2);
        this->check(*made.fft, shape);
        EXPECT_LE(made.state->max_used, made.state->budget);
        if (share == 0) {
          EXPECT_GT(made.state->pieces, 0);
        }
        if (share == 1) {
          EXPECT_EQ(made.state->pieces, 0);
        }
      }
    }
  }
}

TYPED_TEST(OutOfCoreTest, WhatFitsStaysOnTheDeviceBetweenTheRounds) {
  const Shape shape({96, 640});
  const std::size_t array = static_cast<std::size_t>(shape.points()) * sizeof(std::complex<TypeParam>);
  const auto signal =
      as_samples<std::complex<TypeParam>>(random_signal(static_cast<std::size_t>(shape.points()), 45));
  std::vector<std::complex<TypeParam>> spectrum(signal.size());
  for (const double share : {0.0, 0.4}) {
    for (const double more : {0.0, 0.5, 4.0}) {
      const auto bytes = static_cast<std::size_t>((0.8 + more) * static_cast<double>(array));
      const auto made = this->plan(shape, bytes, share, 2);
      SCOPED_TRACE(made.fft->explain());
      EXPECT_NE(made.fft->explain().find("stay on the device"), std::string::npos);
      this->transform(*made.fft, signal, spectrum, false);
      EXPECT_LE(relative_l2(spectrum, expected_spectra(signal, shape, false)),
                fft_bound<TypeParam>(static_cast<double>(shape.points())));
      EXPECT_LE(made.state->max_used, made.state->budget);
      // If all slabs are resident and the host takes no share, every value crosses the bus twice.
      if (share == 0 && more == 4) {
        EXPECT_EQ(made.state->bus_bytes, 2 * array);
      }
    }
  }
}

/// Each of the OutOfCoreDevices has its own columns and slabs. The bytes show that each keeps its columns of
/// its slabs.
TYPED_TEST(OutOfCoreTest, SeveralDevicesShareEveryRound) {
  for (const int devices : {2, 3, 5}) {
    for (const double share : {0.0, 0.3}) {
      for (const Shape& shape : {Shape({60, 120}), Shape({12, 10, 24}), Shape({3, 700})}) {
        const auto made = this->plan(shape, this->budget(shape, 12), share, 2, false, devices);
        SCOPED_TRACE(made.fft->explain());
        this->check(*made.fft, shape);
        made.state->reads_everything = true;
        this->check(*made.fft, shape);
        std::int64_t min = made.state->pieces, max = 0;
        for (const auto& state : made.states) {
          EXPECT_LE(state->max_used, state->budget);
          min = std::min<std::int64_t>(min, state->pieces);
          max = std::max<std::int64_t>(max, state->pieces);
        }
        EXPECT_GT(max, 0);
        if (shape[0] >= 12 && devices == 2) {
          EXPECT_GT(min, 0) << "each has pieces";
        }
      }
    }
  }
}

TYPED_TEST(OutOfCoreTest, SeveralDevicesKeepTheirColumns) {
  const Shape shape({48, 256});
  const std::size_t array = 48 * 256 * sizeof(std::complex<TypeParam>);
  const auto signal = as_samples<std::complex<TypeParam>>(random_signal(48 * 256, 46));
  std::vector<std::complex<TypeParam>> spectrum(signal.size());
  const auto made = this->plan(shape, 4 * array, 0, 2, false, 2);
  SCOPED_TRACE(made.fft->explain());
  EXPECT_NE(made.fft->explain().find("stay on each device"), std::string::npos);
  this->transform(*made.fft, signal, spectrum, false);
  EXPECT_LE(relative_l2(spectrum, expected_spectra(signal, shape, false)), fft_bound<TypeParam>(48 * 256));
  const std::size_t bus = made.states[0]->bus_bytes + made.states[1]->bus_bytes;
  // Values are copied in and out in both rounds, except half of the array between them, if pieces are
  // partitioned evenly.
  EXPECT_GE(bus, 3 * array);
  EXPECT_LE(bus, 3 * array + array / 8);
  made.fft->measure();
  this->check(*made.fft, shape);
}

TYPED_TEST(OutOfCoreTest, TheFailureOfOneDeviceEndsTheOthersWork) {
  const Shape shape({24, 160});
  const auto made = this->plan(shape, this->budget(shape, 2), 0.25, 2, false, 3);
  const auto signal = as_samples<std::complex<TypeParam>>(random_signal(24 * 160, 42));
  for (int step = 0; step < 9; ++step) {
    for (const bool page_locked : {false, true}) {
      auto in = signal, out = signal;
      made.state->reads_everything = page_locked;
      made.states[static_cast<std::size_t>(step % 3)]->fail_after = step / 3;
      EXPECT_EQ(code_of([&] { this->transform(*made.fft, in, out, false); }), ErrorCode::device);
      EXPECT_EQ(in, signal);
      for (const auto& state : made.states) state->fail_after = -1;
    }
  }
  this->check(*made.fft, shape);
}

TYPED_TEST(OutOfCoreTest, EndsOnRequestAndThePlanLives) {
  const Shape shape({24, 160});
  const auto made = this->plan(shape, this->budget(shape, 2), 0.25, 2, false, 3);
  const auto signal = as_samples<std::complex<TypeParam>>(random_signal(24 * 160, 42));
  for (int n = 0; n < 40; ++n) {
    made.state->reads_everything = n % 2 == 1;
    auto in = signal, out = signal;
    std::stop_source source;
    if (n == 0) source.request_stop();
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(25 * n));
      source.request_stop();
    });
    const auto code = code_of([&] {
      run_with_control(source.get_token(), {}, [&] { this->transform(*made.fft, in, out, false); });
    });
    other.join();
    EXPECT_TRUE(code == ErrorCode::stopped || (n > 0 && !code)) << n;
    EXPECT_EQ(in, signal);
  }
  made.state->reads_everything = false;
  this->check(*made.fft, shape);
}

TYPED_TEST(OutOfCoreTest, MemoryThatTheDeviceReadsIsNotStaged) {
  const Shape shape({24, 40});
  const auto made = this->plan(shape, this->budget(shape, 2), 0.25, 2);
  made.state->reads_everything = true;
  this->check(*made.fft, shape);
  EXPECT_TRUE(made.state->on_host.empty());
}

TYPED_TEST(OutOfCoreTest, BudgetsWithoutRoomForAPieceAreRefusedWithTheMinimum) {
  const Shape shape({24, 40});
  std::string said;
  try {
    this->plan(shape, 1000, 0, 1);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    said = error.what();
  }
  const std::string before = "at least ";
  const std::size_t at = said.find(before);
  ASSERT_NE(at, std::string::npos) << said;
  const std::size_t min = std::stoul(said.substr(at + before.size()));
  EXPECT_EQ(code_of([&] { this->plan(shape, min - 1, 0, 1); }), ErrorCode::out_of_memory);
  const auto made = this->plan(shape, min, 0, 1);
  this->check(*made.fft, shape);
}

TYPED_TEST(OutOfCoreTest, ADeviceThatFailsIsReportedAndThePlanLives) {
  const Shape shape({24, 40});
  const auto made = this->plan(shape, this->budget(shape, 2), 0.25, 2);
  const auto signal = as_samples<std::complex<TypeParam>>(random_signal(960, 42));
  for (int step = 0; step < 12; ++step) {
    std::vector<std::complex<TypeParam>> values = signal, spectrum(signal.size());
    made.state->fail_after = step;
    EXPECT_EQ(code_of([&] { this->transform(*made.fft, values, spectrum, false); }), ErrorCode::device);
    EXPECT_EQ(values, signal) << "the input of a transform that is not in place stays";
    made.state->fail_after = -1;
  }
  this->check(*made.fft, shape);
}

TYPED_TEST(OutOfCoreTest, MemoryIsAllocatedBeforeAnArrayIsTouched) {
  const Shape shape({24, 40});
  const auto made = this->plan(shape, this->budget(shape, 2), 0.25, 2);
  auto values = as_samples<std::complex<TypeParam>>(random_signal(960, 43));
  const auto before = values;
  made.state->used = made.state->budget - 100;  // as if another process took the memory
  EXPECT_EQ(code_of([&] { this->transform(*made.fft, values, values, false); }), ErrorCode::out_of_memory);
  EXPECT_EQ(values, before);
  made.state->used = 0;
  this->check(*made.fft, shape);
}

TYPED_TEST(OutOfCoreTest, MeasuringChoosesSharesAndExplains) {
  const Shape shape({24, 400});
  const auto made = this->plan(shape, this->budget(shape, 4), -1, 2);
  EXPECT_NE(made.fft->explain().find("assumed rates"), std::string::npos);
  made.fft->measure();
  for (const double share : made.fft->host_shares()) EXPECT_TRUE(share >= 0 && share <= 1) << share;
  const auto predicted = made.fft->predicted();
  ASSERT_EQ(predicted.size(), 3U);
  EXPECT_GT(predicted[0].us, 0);
  EXPECT_EQ(predicted[1].us, 0) << "of calls in place";
  EXPECT_GT(predicted[2].us, 0);
  this->check(*made.fft, shape, false);
  const std::string said = made.fft->explain();
  for (const char* word :
       {"round 1, of calls that are not in place, columns", "round 2, of calls in place, columns",
        "round 3, slabs", "profiling runs", "last measured", "streams"})
    EXPECT_NE(said.find(word), std::string::npos) << said;
}

/// Only half of a round passes through buffers if the device can read one of the two arrays.
TYPED_TEST(OutOfCoreTest, PredictionsKnowWhatIsCopiedThroughBuffers) {
  const Shape shape({24, 400});
  auto values = as_samples<std::complex<TypeParam>>(random_signal(9600, 47));
  std::vector<std::complex<TypeParam>> results(values.size());
  const auto made = this->plan(shape, this->budget(shape, 4), 0, 2);
  const std::string before = made.fft->explain();
  EXPECT_NE(before.find("ms from and to memory that is not page-locked"), std::string::npos) << before;
  const auto us = [&] {
    double sum = 0;
    for (const detail::RoundTimes& times : made.fft->predicted()) sum += times.us;
    return sum;
  };
  const double locked = us();
  this->transform(*made.fft, values, results, false);
  const double copied = us();
  EXPECT_GT(copied, locked) << made.fft->explain();
  EXPECT_EQ(made.fft->explain().find("not page-locked"), std::string::npos);
  const auto on_host =
      EmulatedDevice<TypeParam>(made.state)
          .allocate_on_host(std::ssize(values) * static_cast<std::int64_t>(sizeof(values[0])));
  auto* const array = reinterpret_cast<std::complex<TypeParam>*>(on_host.get());
  std::vector<std::byte> memory(static_cast<std::size_t>(made.fft->workspace_bytes()) + 64);
  std::byte* const workspace = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
  made.fft->transform(values.data(), array, false, 1, workspace);
  EXPECT_LT(us(), copied) << "only the first round reads from ordinary memory";
  std::copy(values.begin(), values.end(), array);
  made.fft->transform(array, array, false, 1, workspace);
  EXPECT_LE(us(), locked);
}

TYPED_TEST(OutOfCoreTest, CallsOfSeveralThreadsTakeTurns) {
  const Shape shape({24, 40});
  const auto made = this->plan(shape, this->budget(shape, 2), 0.4, 2);
  std::vector<std::thread> callers;
  for (int c = 0; c < 3; ++c) callers.emplace_back([&] { this->check(*made.fft, shape); });
  for (std::thread& caller : callers) caller.join();
}

}  // namespace
}  // namespace sfft::out_of_core_test
