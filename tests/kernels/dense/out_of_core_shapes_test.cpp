// SPDX-License-Identifier: Apache-2.0
// Tests out-of-core transforms of a drawn population of shapes against direct sums: real and complex, of one
// to three dimensions, single and in batches, in place and out of place. They run on the host alone, and with
// an emulated device of little memory.
#include <gtest/gtest.h>

#include "tests/support/out_of_core_population.hpp"

namespace sfft::out_of_core_shapes_test {
namespace {

using test::Array;
using test::code_of;
using test::draw;
using test::Drawn;
using test::EmulatedState;
using test::make;
using test::OutOfCoreShapes;

using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(OutOfCoreShapes, Reals);

TYPED_TEST(OutOfCoreShapes, DrawnTransformsEqualSums) {
  std::mt19937 generator(2026);
  int refused = 0;
  constexpr int kDrawn = 400;
  for (unsigned i = 0; i < kDrawn && !testing::Test::HasFailure(); ++i)
    refused += this->run(draw(generator), 100 + i) ? 0 : 1;
  EXPECT_LT(refused, kDrawn / 4) << "few are refused";
}

TYPED_TEST(OutOfCoreShapes, LongLinesAreDividedUnlessTheyArePrime) {
  Drawn drawn;
  drawn.share = 0.4;
  drawn.budget = 1 << 16;
  drawn.threads = 2;
  for (const std::int64_t n : {1024, 2048, 1000, 2310, 997, 2 * 509, 3 * 3 * 127}) {
    for (const bool real : {false, true}) {
      drawn.shape = Shape(n);
      drawn.real = real;
      EXPECT_TRUE(this->run(drawn, 7)) << n;
    }
  }
  drawn.longest_line = 256;
  drawn.real = false;
  for (const auto& [n, better] :
       {std::pair(1009, "1024"), std::pair(2 * 509, "1024"), std::pair(2 * 127, "256")}) {
    drawn.shape = Shape(n);
    std::string said;
    EXPECT_EQ(code_of([&] {
                try {
                  make<TypeParam>(drawn, std::make_shared<EmulatedState>(1 << 16));
                } catch (const Error& error) {
                  said = error.what();
                  throw;
                }
              }),
              ErrorCode::backend_unavailable);
    EXPECT_NE(said.find(better), std::string::npos) << said;
  }
}

TYPED_TEST(OutOfCoreShapes, SlabsThatDoNotFitAreDividedOnceMore) {
  Drawn drawn;
  drawn.shape = Shape({4, 48, 64});  // planes have at least 24 kB
  drawn.share = 0;
  drawn.budget = 17 << 10;
  auto state = std::make_shared<EmulatedState>(static_cast<std::size_t>(drawn.budget));
  EXPECT_EQ(make<TypeParam>(drawn, state)->host_shares().size(), 4U)
      << "two kinds of calls in the first round";
  EXPECT_TRUE(this->run(drawn, 3));
  drawn.shape = Shape({4, 4096});
  EXPECT_EQ(make<TypeParam>(drawn, state)->host_shares().size(), 5U)
      << "rows in two steps and a transposition";
  EXPECT_TRUE(this->run(drawn, 4));
}

TYPED_TEST(OutOfCoreShapes, FailuresLeaveTheInputAndThePlanAlive) {
  Drawn drawn;
  drawn.shape = Shape({24, 40});
  drawn.share = 0.3;
  drawn.budget = 32 << 10;
  drawn.threads = 2;
  for (const bool real : {false, true}) {
    drawn.real = real;
    drawn.shape = real ? Shape({24, 40}) : Shape(960);
    auto state = std::make_shared<EmulatedState>(static_cast<std::size_t>(drawn.budget));
    const auto plan = make<TypeParam>(drawn, state);
    std::vector<std::byte> memory(plan->workspace_bytes() + 64);
    std::byte* const workspace = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
    Array<TypeParam> signal(drawn, 1200), spectrum(drawn, 1200);
    const auto before = signal.all(), untouched = spectrum.all();
    const auto forward = [&] { plan->forward(signal.data(), spectrum.complex(), 1, workspace); };
    state->used = state->budget - 100;  // as if another process took the memory
    EXPECT_EQ(code_of(forward), ErrorCode::out_of_memory);
    EXPECT_EQ(spectrum.all(), untouched) << "memory is allocated before an array is touched";
    state->used = 0;
    for (int step = 0; step < 25; ++step) {
      state->fail_after = step;
      const auto code = code_of(forward);
      const bool failed = state->fail_after < 0;
      state->fail_after = -1;
      EXPECT_TRUE(!failed || code == ErrorCode::device);
      EXPECT_EQ(signal.all(), before) << "the input of a transform that is not in place stays";
    }
    this->check(drawn, *plan, 11);
  }
}

/// In place, so that nothing may be overwritten before all allocations have succeeded.
TYPED_TEST(OutOfCoreShapes, EveryAllocationFailsOnce) {
  Drawn drawn;
  drawn.share = 0.3;
  drawn.budget = 64 << 10;
  for (const bool real : {false, true}) {
    drawn.real = drawn.padded = real;
    for (const Shape& shape : {Shape(960), Shape({24, 40}), Shape({6, 8, 10})}) {
      drawn.shape = shape;
      SCOPED_TRACE(drawn.to_string());
      int refused = 0;
      for (int n = 1;; ++n) {
        ASSERT_LT(n, 50);
        auto state = std::make_shared<EmulatedState>(static_cast<std::size_t>(drawn.budget));
        const auto plan = make<TypeParam>(drawn, state);  // the plan keeps what a call has allocated
        std::vector<std::byte> memory(plan->workspace_bytes() + 64);
        std::byte* const workspace =
            memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
        Array<TypeParam> signal(drawn, 1200);
        const auto before = signal.all();
        bool done = false;
        state->fail_allocation = n;
        const auto code = code_of([&] {
          plan->forward(signal.data(), signal.complex(), 1, workspace);
          done = true;
        });
        if (state->fail_allocation > 0) break;  // the call needs no more allocations
        if (done) continue;                     // without page-locked memory, ordinary memory serves
        ++refused;
        EXPECT_EQ(code, ErrorCode::out_of_memory);
        EXPECT_EQ(signal.all(), before);
        this->check(drawn, *plan, 31);
      }
      EXPECT_GE(refused, 2);
    }
  }
}

/// If all slabs fit on the device and the host takes no share, every value crosses the bus once in each
/// direction.
TYPED_TEST(OutOfCoreShapes, LinesApartAndRealRowsStayOnTheDeviceToo) {
  using Value = std::complex<TypeParam>;
  Drawn drawn;
  drawn.share = 0;
  drawn.budget = 64 << 20;
  for (const bool real : {false, true}) {
    drawn.real = real;
    drawn.shape = real ? Shape({40, 96}) : Shape(3840);
    const std::size_t spectrum = real ? 40 * 49 : 3840,
                      bytes = real ? 3840 * sizeof(TypeParam) : 3840 * sizeof(Value);
    auto state = std::make_shared<EmulatedState>(static_cast<std::size_t>(drawn.budget));
    const auto plan = make<TypeParam>(drawn, state);
    EXPECT_NE(plan->explain().find("stay on the device"), std::string::npos) << plan->explain();
    std::vector<std::byte> memory(plan->workspace_bytes() + 64);
    std::byte* const workspace = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
    std::vector<Value> signal(3840), result(spectrum);
    plan->forward(signal.data(), result.data(), 1, workspace);
    EXPECT_EQ(state->bus_bytes, bytes + spectrum * sizeof(Value));
    this->check(drawn, *plan, 17);
  }
}

/// In place the device also transposes. Every value crosses the bus twice in each direction, or once if it
/// stays on the device between the rounds, and the host moves none. Lengths are squares, multiples of
/// squares, and others.
TYPED_TEST(OutOfCoreShapes, LinesInPlaceAreTransposedOnTheWay) {
  using Value = std::complex<TypeParam>;
  Drawn drawn;
  drawn.page_locked = true;
  for (const std::int64_t n : {64 * 64, 32 * 96, 24 * 72, 60 * 45, 48 * 48, 43 * 43, 30 * 77}) {
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(Value);
    drawn.shape = Shape(n);
    for (const double arrays : {1.2, 3.0}) {
      drawn.budget = arrays * static_cast<double>(bytes);
      for (const double share : {0.0, -1.0}) {
        drawn.share = share;
        drawn.threads = 1 + static_cast<int>(n % 3);
        auto state = std::make_shared<EmulatedState>(static_cast<std::size_t>(drawn.budget));
        state->reads_everything = true;
        const auto plan = make<TypeParam>(drawn, state);
        SCOPED_TRACE(drawn.to_string() + "\n" + plan->explain());
        const bool exchanges = plan->explain().find("transposed in place") != std::string::npos;
        EXPECT_TRUE(exchanges || arrays < 2 || n == 30 * 77) << "the factors have none in common";
        std::vector<std::byte> memory(plan->workspace_bytes() + 64);
        std::byte* const workspace =
            memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
        std::vector<Value> values(static_cast<std::size_t>(n));
        plan->forward(values.data(), values.data(), 1, workspace);
        if (exchanges && share == 0) {
          const bool stay = plan->explain().find(", in place ") != std::string::npos;
          EXPECT_EQ(state->bus_bytes < 4 * bytes, stay);
          EXPECT_LE(state->bus_bytes, 4 * bytes);
          EXPECT_GE(state->bus_bytes, 2 * bytes);
        }
      }
    }
    for (const double arrays : {0.5, 0.7, 1.1, 3.0}) {
      drawn.budget = arrays * static_cast<double>(bytes);
      drawn.page_locked = !drawn.page_locked;
      drawn.pins_nothing = n % 4 == 0 && !drawn.page_locked;
      this->run(drawn, 61);
    }
    drawn.page_locked = true;
    drawn.pins_nothing = false;
  }
}

/// Pieces that wait for others end when one of those fails.
TYPED_TEST(OutOfCoreShapes, RoundsInPlaceFailAsOthersDo) {
  Drawn drawn;
  drawn.shape = Shape(64 * 64);
  drawn.share = 0;
  drawn.threads = 2;
  drawn.page_locked = true;
  drawn.budget = 64 * 64 * sizeof(std::complex<TypeParam>) * 3 / 2;
  auto state = std::make_shared<EmulatedState>(static_cast<std::size_t>(drawn.budget));
  state->reads_everything = true;
  const auto plan = make<TypeParam>(drawn, state);
  ASSERT_NE(plan->explain().find("transposed in place"), std::string::npos) << plan->explain();
  std::vector<std::byte> memory(plan->workspace_bytes() + 64);
  std::byte* const workspace = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
  std::vector<std::complex<TypeParam>> values(64 * 64);
  int failures = 0;
  for (int step = 0; step < 60; ++step) {
    state->fail_after = step;
    const auto code = code_of([&] { plan->forward(values.data(), values.data(), 1, workspace); });
    const bool failed = state->fail_after < 0;
    state->fail_after = -1;
    EXPECT_TRUE(!failed || code == ErrorCode::device);
    failures += failed ? 1 : 0;
  }
  EXPECT_GT(failures, 20);
  this->check(drawn, *plan, 62);
}

TYPED_TEST(OutOfCoreShapes, SharesCanBeMeasuredAndSet) {
  Drawn drawn;
  drawn.share = -1;
  drawn.budget = 32 << 10;
  for (const auto& [real, devices] : {std::pair(false, 1), {true, 1}, {false, 2}, {true, 3}}) {
    drawn.real = real;
    drawn.devices = devices;
    for (const Shape& shape : {Shape(1440), Shape({24, 60}), Shape({10, 12, 14})}) {
      drawn.shape = shape;
      SCOPED_TRACE(drawn.to_string());
      auto state = std::make_shared<EmulatedState>(static_cast<std::size_t>(drawn.budget));
      std::vector<std::shared_ptr<EmulatedState>> states;
      const auto plan = make<TypeParam>(drawn, state, &states);
      plan->measure();
      for (const auto& device : states) EXPECT_LE(device->max_used, device->budget);
      std::vector<double> shares = plan->host_shares();
      EXPECT_EQ(plan->predicted().size(), shares.size()) << "no passes of the host";
      this->check(drawn, *plan, 21);
      std::fill(shares.begin(), shares.end(), 0.5);
      plan->set_host_shares(shares);
      this->check(drawn, *plan, 22);
      EXPECT_NE(plan->explain().find("last measured"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace sfft::out_of_core_shapes_test
