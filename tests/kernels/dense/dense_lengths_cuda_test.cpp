// SPDX-License-Identifier: Apache-2.0
// Tests every length from 1 to 4096 on every GPU engine, forward and inverse, against the built-in CPU engine
// in double, which dense_lengths_test compares with direct sums. Compiling kernels takes most of the time.
// GTEST_TOTAL_SHARDS spreads it over processes; SFFT_TEST_LENGTH_STEP=5 takes every fifth length: 1, 6, 11, …
#include <cstdlib>

#include "sfft/dense.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/dense_reference.hpp"

namespace sfft::test::dense_lengths_cuda_test {
namespace {

using dense::Engine;
using dense::Plan;

constexpr std::int64_t kLengths = 4096, kBlock = 64;

std::int64_t step_of_lengths() {
  const char* text = std::getenv("SFFT_TEST_LENGTH_STEP");
  const std::int64_t step = text == nullptr ? 1 : std::atoll(text);
  return step < 1 ? 1 : step;
}

class DenseLengthsCuda : public GpuTest, public testing::WithParamInterface<std::int64_t> {};

template <class Real, class T>
void check(std::int64_t n, Engine engine) {
  const bool real = std::is_same_v<T, Real>;
  const auto plan = plan_if_possible<Real>(Shape(n), real, {.engine = engine, .batch = 3});
  if (!plan) return;
  const auto x = as_samples<T>(random_signal(plan->signal_points(), static_cast<unsigned>(n)));
  const Plan<double> exact(Shape(n), real ? Domain::real : Domain::complex,
                           {.engine = Engine::built_in, .batch = 3});
  std::vector<std::complex<double>> expected(exact.spectrum_points());
  exact.forward(x.data(), element_type_of<T>::value, expected);
  const auto spectra = forward_on_device(*plan, x);
  const double bound = gpu_bound<Real>(engine, static_cast<double>(n));
  EXPECT_LE(relative_l2(spectra, expected), bound) << plan->engine_name() << " " << n;
  EXPECT_LE(relative_l2(inverse_on_device(*plan, spectra, std::vector<T>(x.size())), x), 2 * bound)
      << plan->engine_name() << " " << n;
}

/// Checks complex floats at every length, and the other types, which share the kernels, at some lengths.
TEST_P(DenseLengthsCuda, ThereAndBack) {
  const std::int64_t step = step_of_lengths();
  for (std::int64_t n = GetParam(); n < GetParam() + kBlock; ++n) {
    if ((n - 1) % step != 0) continue;  // some of these lengths are primes
    for (const Engine engine : gpu_engines()) {
      if (engine == Engine::vkfft && n % 31 != 0) continue;  // not part of this library, and slow to plan
      check<float, std::complex<float>>(n, engine);
      if (n % 29 == 0) check<double, std::complex<double>>(n, engine);
      if (n % 23 == 0) check<float, float>(n, engine);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(To4096, DenseLengthsCuda, testing::Range<std::int64_t>(1, kLengths + 1, kBlock));

}  // namespace
}  // namespace sfft::test::dense_lengths_cuda_test
