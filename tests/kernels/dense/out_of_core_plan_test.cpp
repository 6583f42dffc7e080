// SPDX-License-Identifier: Apache-2.0
// Tests dense plans whose arrays stay in host memory, with a share of 1 for the host, which needs no GPU.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "kernels/dense/out_of_core/real_fft.hpp"
#include "sfft/dense.hpp"
#include "sfft/dense_compact.hpp"
#include "sfft/dense_slabs.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::out_of_core_plan_test {
namespace {

using test::as_samples;
using test::code_of;
using test::ComplexSignal;
using test::direct_coefficients;
using test::expected_spectra;
using test::fft_bound;
using test::random_signal;
using test::relative_l2;

dense::Options host_alone(std::int64_t batch = 1) {
  return {.threads = 2, .device = Device::gpu(), .batch = batch, .host_share = 1};
}

TEST(OutOfCorePlan, AShareOfOneNeedsNoGpu) {
  const Shape shape({40, 6, 10});
  const auto signal = as_samples<std::complex<float>>(random_signal(2400, 44));
  const dense::Plan<float> plan(shape, Domain::complex,
                                {.normalization = dense::Options::Normalization::unitary,
                                 .threads = 3,
                                 .device = Device::gpu(),
                                 .host_share = 1});
  std::vector<std::complex<float>> values = signal;
  plan.forward(values.data(), ElementType::c64, values);
  ComplexSignal sums = expected_spectra(signal, shape, false);
  for (auto& value : sums) value /= std::sqrt(2400.0);
  EXPECT_LE(relative_l2(values, sums), 2 * fft_bound<float>(2400));
  plan.inverse(values, std::span(values));
  EXPECT_LE(relative_l2(values, signal), 2 * fft_bound<float>(2400));
  EXPECT_NE(plan.explain().find("host alone"), std::string::npos) << plan.explain();
  EXPECT_EQ(code_of([&] { plan.forward(values.data() + 1, ElementType::c64, values); }),
            ErrorCode::invalid_argument)
      << "overlapping arrays";
  const std::vector<float> reals(2400);
  EXPECT_EQ(code_of([&] { plan.forward(reals.data(), ElementType::f32, values); }), ErrorCode::type_mismatch);
  EXPECT_EQ(
      code_of([&] { plan.enqueue_forward(values.data(), ElementType::c64, values.data(), {}, nullptr); }),
      ErrorCode::backend_unavailable);
}

/// Checks lists of GPUs, on machines with and without GPUs.
TEST(OutOfCorePlan, ListsOfGpus) {
  const Shape shape({24, 40});
  const auto signal = as_samples<std::complex<float>>(random_signal(960, 48));
  std::vector<std::complex<float>> spectrum(960);
  const dense::Plan<float> plan(shape, Domain::complex,
                                {.threads = 2, .device = Device::gpus({0, 1}), .host_share = 1});
  plan.forward(signal.data(), ElementType::c64, spectrum);
  EXPECT_LE(relative_l2(spectrum, expected_spectra(signal, shape, false)), 2 * fft_bound<float>(960));
  EXPECT_NE(plan.explain().find("host alone"), std::string::npos) << plan.explain();
  EXPECT_EQ(code_of([&] {
              dense::Plan<float>(shape, Domain::complex,
                                 {.device = Device::gpus({0, 1000}), .device_memory = 1000});
            }),
            ErrorCode::backend_unavailable)
      << "no machine has so many";
  EXPECT_EQ(code_of([&] {
              dense::SlabPlan<float>(shape, Domain::complex,
                                     {.device = Device::gpus({0, 1}), .device_memory = 1000});
            }),
            ErrorCode::invalid_argument)
      << "its arrays are in GPU memory";
  EXPECT_EQ(
      code_of([&] {
        dense::SlabPlan<float>(shape, Domain::complex, {.device = Device::gpus({0, 1}), .host_share = 0.5});
      }),
      ErrorCode::invalid_argument);
}

TEST(OutOfCorePlan, OptionsThatMakeNoSense) {
  EXPECT_EQ(code_of([] {
              dense::Plan<float>({8, 8}, Domain::complex, {.host_share = 1});
            }),
            ErrorCode::invalid_argument)
      << "such a plan is on the CPU";
  EXPECT_EQ(code_of([] {
              dense::CompactPlan({8, 8}, Domain::complex, {.device = Device::gpu(), .device_memory = 1000});
            }),
            ErrorCode::invalid_argument);
  const auto planned = [](const Shape& shape, bool real, dense::Options options) {
    options.device = Device::gpu();
    return code_of([&] { dense::Plan<float>(shape, real ? Domain::real : Domain::complex, options); });
  };
  const Shape shape({8, 8});
  EXPECT_EQ(planned(shape, false, {.host_share = 1.5}), ErrorCode::invalid_argument);
  EXPECT_EQ(planned(shape, false, {.host_share = std::nan("")}), ErrorCode::invalid_argument);
  EXPECT_EQ(planned(shape, false, {.device_memory = -1}), ErrorCode::invalid_argument);
  EXPECT_EQ(planned(shape, false, {.signal_strides = {{9, 1, 0}, 0}, .host_share = 1}),
            ErrorCode::backend_unavailable)
      << "strides";
  EXPECT_EQ(planned(shape, true, {.signal_strides = {{12, 1, 0}, 0}, .host_share = 1}),
            ErrorCode::backend_unavailable)
      << "not as half spectra lie";
  EXPECT_EQ(planned(Shape(4194319), false, {.host_share = 1}), ErrorCode::backend_unavailable)
      << "a line of a large prime length";
}

/// Uses every second kind of shape: a real batch out of place and, in rows with room for half spectra, in
/// place.
TEST(OutOfCorePlan, RealBatchesApartAndInPlace) {
  for (const Shape& shape : {Shape(360), Shape(105), Shape({20, 36}), Shape({9, 15}), Shape({6, 10, 14})}) {
    constexpr std::int64_t kBatch = 3;
    SCOPED_TRACE(shape.to_string());
    const std::int64_t row = shape[shape.rank() - 1], kept = row / 2 + 1,
                       rows = kBatch * shape.points() / row;
    const auto signal = as_samples<double>(random_signal(static_cast<std::size_t>(rows * row), 46));
    const ComplexSignal sums = expected_spectra(signal, shape, true);
    const double bound = 2 * fft_bound<double>(static_cast<double>(shape.points()));
    const dense::Plan<double> plan(shape, Domain::real, host_alone(kBatch));
    std::vector<std::complex<double>> spectra(plan.spectrum_points());
    std::vector<double> back(plan.signal_points());
    plan.forward(signal.data(), ElementType::f64, spectra);
    EXPECT_LE(relative_l2(spectra, sums), bound);
    plan.inverse(spectra, std::span(back));
    EXPECT_LE(relative_l2(back, signal), bound);
    EXPECT_EQ(code_of([&] { plan.forward(spectra.data(), ElementType::f64, std::span(spectra)); }),
              ErrorCode::invalid_argument)
        << "in place without room";

    dense::Options options = host_alone(kBatch);
    options.signal_strides.dims[static_cast<std::size_t>(shape.rank() - 1)] = 1;
    options.signal_strides.batch = 2 * kept;
    for (int d = shape.rank() - 2; d >= 0; options.signal_strides.batch *= shape[d--])
      options.signal_strides.dims[static_cast<std::size_t>(d)] = options.signal_strides.batch;
    const dense::Plan<double> in_place(shape, Domain::real, options);
    auto* const reals = reinterpret_cast<double*>(spectra.data());
    for (std::int64_t r = 0; r < rows; ++r) std::copy_n(signal.begin() + r * row, row, reals + r * 2 * kept);
    in_place.forward(reals, ElementType::f64, std::span(spectra));
    EXPECT_LE(relative_l2(spectra, sums), bound);
    const std::span<double> span(reals, static_cast<std::size_t>((rows - 1) * 2 * kept + row));
    in_place.inverse(spectra, span);
    back.clear();
    for (std::int64_t r = 0; r < rows; ++r)
      back.insert(back.end(), reals + r * 2 * kept, reals + r * 2 * kept + row);
    EXPECT_LE(relative_l2(back, signal), bound);
    EXPECT_EQ(code_of([&] { in_place.forward(reals + 2, ElementType::f64, std::span(spectra)); }),
              ErrorCode::invalid_argument)
        << "arrays that overlap otherwise";
    EXPECT_EQ(code_of([&] { in_place.forward(reals, ElementType::u8, std::span(spectra)); }),
              ErrorCode::invalid_argument)
        << "in place, but of another type";
  }
}

/// Predictions and measurements include the host's passes of real signals, and plans report them.
TEST(OutOfCorePlan, RealPassesArePredictedAndMeasured) {
  using Fft = detail::OutOfCoreRealFft<float>;
  const auto total = [](const std::vector<detail::RoundTimes>& times) {
    return std::accumulate(times.begin(), times.end(), 0.0,
                           [](double sum, const detail::RoundTimes& one) { return sum + one.us; });
  };
  int plans = 0, unchanged = 0;
  for (const Shape& shape : {Shape(4096), Shape(105), Shape({1, 360}), Shape({1, 1, 63})}) {
    SCOPED_TRACE(shape.to_string());
    const std::int64_t row = shape[shape.rank() - 1];
    for (const std::int64_t pitch : {row, row % 2 == 0 ? row + 2 : row}) {
      const detail::OutOfCoreOptions options{.host_share = 1, .threads = 2};
      Fft fft(shape, 2, pitch, {}, options), twice(shape, 4, pitch, {}, options);
      const bool in_place = pitch > row;
      std::vector<detail::RoundTimes> assumed = fft.predicted();
      ASSERT_GT(assumed.size(), 2U);
      EXPECT_EQ(assumed.front().us > 0, !in_place) << "samples are in their place";
      EXPECT_GT(assumed.back().us, 0);
      EXPECT_EQ(assumed.front().us, assumed.front().host_us);
      EXPECT_NEAR(total(twice.predicted()) / total(assumed), 2, 1e-9);
      EXPECT_TRUE(fft.measured().empty());
      EXPECT_NE(fft.explain().find("(from assumed rates)"), std::string::npos);

      const std::int64_t rows = 2 * shape.points() / row;
      std::vector<std::complex<float>> spectra(static_cast<std::size_t>(rows * (row / 2 + 1)));
      std::vector<float> apart(static_cast<std::size_t>(rows * row));
      void* const signals = in_place ? static_cast<void*>(spectra.data()) : apart.data();
      std::vector<std::byte> memory(static_cast<std::size_t>(fft.workspace_bytes()) + 64);
      void* start = memory.data();
      std::size_t room = memory.size();
      auto* const workspace = static_cast<std::byte*>(std::align(64, 1, start, room));
      fft.forward(signals, spectra.data(), 1, workspace);
      EXPECT_EQ(fft.measured().size(), assumed.size());
      EXPECT_GT(fft.measured().back().us, 0);
      EXPECT_NE(fft.explain().find("the last forward call's measured"), std::string::npos) << fft.explain();
      fft.inverse(spectra.data(), signals, 1, workspace);
      EXPECT_GT(fft.measured().front().us, 0);
      EXPECT_NE(fft.explain().find("the last inverse call's measured"), std::string::npos) << fft.explain();

      fft.measure();
      EXPECT_EQ(fft.predicted().size(), assumed.size());
      EXPECT_GT(fft.predicted().front().us, 0);
      EXPECT_GT(fft.predicted().back().us, 0);
      ++plans;
      unchanged += fft.predicted().back().us == assumed.back().us ? 1 : 0;
      EXPECT_NE(fft.explain().find("(from profiling runs)"), std::string::npos) << fft.explain();
    }
  }
  EXPECT_LT(unchanged, plans / 2) << "a measured time of 0.21 us may be the assumed one, by chance";
}

/// Undivided rows need no pass before or after the rounds, unless signals leave no room for half spectra.
TEST(OutOfCorePlan, RealRowsAreTransformedInARound) {
  for (const Shape& shape : {Shape({64, 128}), Shape({9, 15}), Shape({6, 10, 14})}) {
    SCOPED_TRACE(shape.to_string());
    const std::int64_t row = shape[shape.rank() - 1], rows = shape.points() / row, kept = row / 2 + 1;
    for (const std::int64_t pitch : {row, 2 * kept}) {
      const bool room = pitch == 2 * kept;
      detail::OutOfCoreRealFft<float> fft(shape, 1, pitch, {}, {.host_share = 1, .threads = 2});
      EXPECT_EQ(fft.predicted().size(), 2U);
      EXPECT_EQ(fft.host_shares().size(), 2U);
      EXPECT_EQ(fft.explain().find("pass of the host") != std::string::npos, !room && row % 2 == 0)
          << fft.explain();
      EXPECT_EQ(fft.explain().find("need another array") != std::string::npos, !room && row % 2 != 0);
      std::vector<std::complex<float>> spectrum(static_cast<std::size_t>(rows * kept));
      std::vector<float> samples(static_cast<std::size_t>(rows * pitch), 1.0F);
      std::vector<std::byte> memory(static_cast<std::size_t>(fft.workspace_bytes()) + 64);
      void* start = memory.data();
      std::size_t left = memory.size();
      auto* const workspace = static_cast<std::byte*>(std::align(64, 1, start, left));
      fft.forward(samples.data(), spectrum.data(), 1, workspace);
      EXPECT_EQ(fft.measured().size(), 2U);
      EXPECT_NEAR(spectrum[0].real(), static_cast<float>(shape.points()), 1e-3F * shape.points());
      fft.inverse(spectrum.data(), samples.data(), 1, workspace);
      EXPECT_EQ(fft.measured().size(), !room && row % 2 == 0 ? 4U : 2U) << "passes, where there are any";
    }
  }
}

/// Compares divided lines with sums at drawn frequencies: powers of two, other products, real and complex.
TEST(OutOfCorePlan, LongLinesEqualSumsAtDrawnFrequencies) {
  std::mt19937_64 generator(47);
  for (const std::int64_t n : {std::int64_t{1} << 20, std::int64_t{1} << 19, std::int64_t{720720},
                               std::int64_t{2} * 99991, std::int64_t{510510}}) {
    SCOPED_TRACE(n);
    const ComplexSignal signal = random_signal(static_cast<std::size_t>(n), 48);
    ComplexSignal real = signal;
    for (auto& value : real) value = value.real();
    std::vector<std::int64_t> frequencies{0, 1, n / 2};
    for (int i = 0; i < 12; ++i)
      frequencies.push_back(static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(n / 2 + 1)));
    const auto picked = [&](const std::vector<std::complex<float>>& spectrum) {
      std::vector<std::complex<float>> values;
      for (const std::int64_t f : frequencies) values.push_back(spectrum[static_cast<std::size_t>(f)]);
      return values;
    };
    // The error is spread evenly over the outputs; a few of them may have four times as much.
    const double bound = 4 * fft_bound<float>(static_cast<double>(n));
    const dense::Plan<float> plan(Shape(n), Domain::complex, host_alone()),
        real_plan(Shape(n), Domain::real, host_alone());
    auto values = as_samples<std::complex<float>>(signal);
    plan.forward(values.data(), ElementType::c64, std::span(values));
    EXPECT_LE(relative_l2(picked(values), direct_coefficients(signal, frequencies)), bound);
    plan.inverse(values, std::span(values));
    EXPECT_LE(relative_l2(values, as_samples<std::complex<float>>(signal)), bound);
    auto reals = as_samples<float>(signal);
    std::vector<std::complex<float>> spectrum(real_plan.spectrum_points());
    real_plan.forward(reals.data(), ElementType::f32, spectrum);
    EXPECT_LE(relative_l2(picked(spectrum), direct_coefficients(real, frequencies)), bound);
    std::fill(reals.begin(), reals.end(), 0.0f);
    real_plan.inverse(spectrum, std::span(reals));
    EXPECT_LE(relative_l2(reals, as_samples<float>(signal)), bound);
  }
}

/// The reference is the built-in engine in memory, which takes other steps.
TEST(OutOfCorePlan, EqualsThePlanInMemory) {
  for (const bool real : {false, true}) {
    for (const Shape& shape : {Shape({300, 700}), Shape({64, 60, 50}), Shape({2, 131072})}) {
      const auto signal = random_signal(static_cast<std::size_t>(shape.points()), 49);
      const dense::Plan<double> plan(shape, real ? Domain::real : Domain::complex, host_alone()),
          known(shape, real ? Domain::real : Domain::complex, {.engine = dense::Engine::built_in});
      std::vector<std::complex<double>> spectrum(plan.spectrum_points()), expected(plan.spectrum_points());
      const auto reals = as_samples<double>(signal);
      const void* const data = real ? static_cast<const void*>(reals.data()) : signal.data();
      const ElementType type = real ? ElementType::f64 : ElementType::c128;
      plan.forward(data, type, spectrum);
      known.forward(data, type, expected);
      EXPECT_LE(relative_l2(spectrum, expected), 2 * fft_bound<double>(static_cast<double>(shape.points())));
    }
  }
}

}  // namespace
}  // namespace sfft::out_of_core_plan_test
