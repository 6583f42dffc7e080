// SPDX-License-Identifier: Apache-2.0
// Draws a population of out-of-core transforms and checks each against direct sums: forward and inverse, out
// of place and in place, within the budget of an emulated device.
#pragma once

#include <gtest/gtest.h>

#include <random>

#include "kernels/dense/out_of_core/real_fft.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/emulated_device.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test {

using detail::OutOfCoreFft;
using detail::OutOfCoreGrid;
using detail::OutOfCoreOptions;
using detail::OutOfCorePlan;
using detail::OutOfCoreRealFft;

/// One transform of the population, and how it is run.
struct Drawn {
  Shape shape{1};
  std::int64_t batch = 1;
  bool real = false, padded = false;
  double share = 1, budget = 0;  ///< in bytes; 0 means no device
  int threads = 1, devices = 1;
  std::int64_t longest_line = 1 << 22;
  bool page_locked = false, pins_nothing = false, measured = false;

  std::string to_string() const {
    return shape.to_string() + " batch " + std::to_string(batch) + (real ? " real" : " complex") +
           (padded ? " padded" : "") + " share " + std::to_string(share) + " budget " +
           std::to_string(budget) + " threads " + std::to_string(threads) + " devices " +
           std::to_string(devices) + (measured ? " measured" : "") + " longest line " +
           std::to_string(longest_line);
  }
};

/// Draws a shape of any rank, whose extents are mostly products of small primes, and sometimes 1 or prime.
inline Drawn draw(std::mt19937& generator) {
  const auto below = [&](int n) { return static_cast<std::int64_t>(generator() % static_cast<unsigned>(n)); };
  const auto extent = [&](int max) {
    constexpr int kPrimes[] = {1, 2, 3, 7, 13, 31, 61};
    if (below(4) == 0) {
      const std::int64_t prime = kPrimes[below(7)];
      return prime <= max ? prime : std::int64_t{2};
    }
    std::int64_t n = 1;
    for (const int factor : {2, 3, 2, 5, 2, 7, 2, 3})
      if (n * factor <= max && below(3) > 0) n *= factor;
    return n;
  };
  Drawn drawn;
  switch (below(3)) {
    case 0:
      drawn.shape = Shape(extent(700));
      break;
    case 1:
      drawn.shape = Shape({extent(48), extent(48)});
      break;
    default:
      drawn.shape = Shape({extent(14), extent(14), extent(14)});
  }
  if (below(3) == 0) drawn.batch = 1 + below(5);
  if (below(12) == 0) drawn.batch = 20;
  drawn.real = below(2) == 0;
  drawn.padded = drawn.real && below(2) == 0;
  drawn.threads = static_cast<int>(1 + below(3));
  if (below(3) == 0) drawn.longest_line = 16;
  drawn.page_locked = below(2) == 0;
  drawn.pins_nothing = below(5) == 0;
  if (below(4) > 0) {
    constexpr double kShares[] = {0, 0, 0.3, 0.8, 1, -1};
    drawn.share = kShares[below(6)];
    const double points = static_cast<double>(drawn.batch * drawn.shape.points());
    constexpr double kBudgets[] = {0.02, 0.2, 1, 8};
    drawn.budget = std::max(4096.0, 16 * points * kBudgets[below(4)]);
    drawn.devices = static_cast<int>(below(3) > 0 ? 1 : 2 + below(2));
    drawn.measured = below(4) == 0;
  }
  return drawn;
}

template <class Real>
std::unique_ptr<OutOfCorePlan> make(const Drawn& drawn, const std::shared_ptr<EmulatedState>& state,
                                    std::vector<std::shared_ptr<EmulatedState>>* states = nullptr) {
  const OutOfCoreOptions options{static_cast<std::int64_t>(drawn.budget), drawn.share, drawn.threads, 1000,
                                 drawn.longest_line};
  const auto devices = emulated_devices<Real>(state, drawn.budget > 0 ? drawn.devices : 0, states);
  if (!drawn.real)
    return std::make_unique<OutOfCoreFft>(OutOfCoreGrid(drawn.shape, drawn.batch), sizeof(std::complex<Real>),
                                          devices, options);
  const std::int64_t row = drawn.shape[drawn.shape.rank() - 1];
  return std::make_unique<OutOfCoreRealFft<Real>>(drawn.shape, drawn.batch,
                                                  drawn.padded ? 2 * (row / 2 + 1) : row, devices, options);
}

/// Memory of real or complex values. Reads and writes the rows of signals, with or without a pitch.
template <class Real>
class Array {
 public:
  Array(const Drawn& drawn, std::size_t spectrum_points)
      : row_(drawn.shape[drawn.shape.rank() - 1]),
        pitch_(drawn.padded ? 2 * (row_ / 2 + 1) : row_),
        rows_(drawn.batch * drawn.shape.points() / row_),
        values_(
            std::max(static_cast<std::size_t>(rows_ * pitch_) * (drawn.real ? 1 : 2), 2 * spectrum_points),
            Real(-7)) {}

  Real* data() { return values_.data(); }
  std::complex<Real>* complex() { return reinterpret_cast<std::complex<Real>*>(values_.data()); }
  const std::vector<Real>& all() const { return values_; }
  void put(const std::vector<Real>& reals) {
    for (std::int64_t r = 0; r < rows_; ++r)
      std::copy_n(reals.begin() + r * row_, row_, values_.begin() + r * pitch_);
  }
  std::vector<Real> reals() const {
    std::vector<Real> out;
    for (std::int64_t r = 0; r < rows_; ++r)
      out.insert(out.end(), values_.begin() + r * pitch_, values_.begin() + r * pitch_ + row_);
    return out;
  }

 private:
  std::int64_t row_, pitch_, rows_;
  std::vector<Real> values_;
};

template <class Real>
std::vector<std::complex<Real>> as_complex(const std::complex<Real>* values, std::size_t count) {
  return {values, values + count};
}

template <class Real>
class OutOfCoreShapes : public testing::Test {
 protected:
  /// Checks the forward and the inverse transform, out of place and in place, with scales.
  static void check(const Drawn& drawn, const OutOfCorePlan& plan, unsigned seed) {
    const auto points = static_cast<std::size_t>(drawn.batch * drawn.shape.points());
    const auto complex_signal = as_samples<std::complex<Real>>(random_signal(points, seed));
    std::vector<Real> real_signal;
    for (const auto& value : complex_signal) real_signal.push_back(value.real());
    const ComplexSignal sums = drawn.real ? expected_spectra(real_signal, drawn.shape, true)
                                          : expected_spectra(complex_signal, drawn.shape, false);
    const auto total = static_cast<double>(drawn.shape.points());
    const double bound = 2 * fft_bound<Real>(total);
    std::vector<std::byte> memory(static_cast<std::size_t>(plan.workspace_bytes()) + 64);
    std::byte* const workspace = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);

    Array<Real> signal(drawn, sums.size()), spectrum(drawn, sums.size()), back(drawn, sums.size());
    const auto put = [&](Array<Real>& array) {
      if (drawn.real) return array.put(real_signal);
      std::copy(complex_signal.begin(), complex_signal.end(), array.complex());
    };
    const auto error = [&](Array<Real>& array) {
      return drawn.real ? relative_l2(array.reals(), real_signal)
                        : relative_l2(as_complex(array.complex(), points), complex_signal);
    };
    put(signal);
    const std::vector<Real> before = signal.all();
    plan.forward(signal.data(), spectrum.complex(), Real(1), workspace);
    EXPECT_LE(relative_l2(as_complex(spectrum.complex(), sums.size()), sums), bound);
    EXPECT_EQ(signal.all(), before);
    const std::vector<Real> kept = spectrum.all();
    plan.inverse(spectrum.complex(), back.data(), static_cast<Real>(1 / total), workspace);
    EXPECT_LE(error(back), 2 * bound);
    EXPECT_EQ(spectrum.all(), kept) << "the inverse leaves its input alone";
    plan.forward(signal.data(), spectrum.complex(), Real(1), workspace);
    EXPECT_LE(relative_l2(as_complex(spectrum.complex(), sums.size()), sums), bound) << "once more";
    if (drawn.real && !drawn.padded &&
        drawn.shape.points() * drawn.batch != drawn.shape[drawn.shape.rank() - 1])
      return;
    plan.forward(signal.data(), signal.complex(), Real(0.5), workspace);
    ComplexSignal halves = sums;
    for (auto& value : halves) value *= 0.5;
    EXPECT_LE(relative_l2(as_complex(signal.complex(), sums.size()), halves), bound);
    plan.inverse(signal.complex(), signal.data(), static_cast<Real>(2 / total), workspace);
    EXPECT_LE(error(signal), 2 * bound);
  }

  /// The number of bytes that would suffice according to a refusal; 0 if the budget was not what was refused.
  static double min_of(const Error& failure) {
    const std::string said = failure.what(), before = "at least ";
    const std::size_t at = said.find(before);
    return failure.code() == ErrorCode::out_of_memory && at != std::string::npos
               ? std::stod(said.substr(at + before.size()))
               : 0;
  }

  /// Returns false if the transform is refused. If only the budget was refused, the number of bytes that the
  /// refusal names must suffice, and a byte less must not.
  static bool run(const Drawn& drawn, unsigned seed) {
    SCOPED_TRACE(drawn.to_string());
    auto state = std::make_shared<EmulatedState>(static_cast<std::size_t>(drawn.budget));
    state->reads_everything = drawn.page_locked;
    state->pins_nothing = drawn.pins_nothing;
    std::vector<std::shared_ptr<EmulatedState>> states;
    std::unique_ptr<OutOfCorePlan> plan;
    try {
      plan = make<Real>(drawn, state, &states);
    } catch (const Error& failure) {
      Drawn again = drawn;
      again.budget = min_of(failure) - 1;
      if (again.budget > 0) {
        EXPECT_EQ(code_of([&] { make<Real>(again, std::make_shared<EmulatedState>(again.budget)); }),
                  ErrorCode::out_of_memory);
        ++again.budget;
        EXPECT_TRUE(run(again, seed)) << failure.what();
      } else {
        EXPECT_EQ(failure.code(), ErrorCode::backend_unavailable) << failure.what();
      }
      return false;
    }
    if (drawn.measured) plan->measure();
    SCOPED_TRACE(plan->explain());
    check(drawn, *plan, seed);
    EXPECT_FALSE(plan->measured().empty());
    std::int64_t pieces = 0;
    for (const auto& device : states) {
      EXPECT_LE(device->max_used, device->budget);
      pieces += device->pieces;
    }
    if (drawn.budget > 0 && drawn.share == 0) {
      EXPECT_GT(pieces, 0);
    }
    plan.reset();
    for (const auto& device : states) EXPECT_EQ(device->used, 0U) << "everything is given back";
    return true;
  }
};

}  // namespace sfft::test
