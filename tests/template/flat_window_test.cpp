// SPDX-License-Identifier: Apache-2.0
// Tests planner and executor of the flat-window path together, on signals whose spectrum is known by
// construction.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "bench/known_signals.hpp"
#include "kernels/base/math/lattice_line.hpp"
#include "kernels/cpu/executors/executor.hpp"
#include "template/flat/flat_planner.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/tolerance.hpp"

namespace flat_window_test {
namespace {

using sfft::ElementType;
using sfft::Shape;
using sfft::detail::FlatOptions;
using sfft::detail::FlatPlanData;
using sfft::detail::FlatPlanResult;
using sfft::detail::plan_flat_windows;
using sfft::detail::walk_line;
using sfft::detail::cpu::ExecutionStats;
using sfft::detail::cpu::make_flat_executor;
using sfft::test::relative_l2;
using sfft::test::SparseSignal;

template <class Real>
constexpr double kLeakage = sizeof(Real) == sizeof(float) ? 1e-8 : 1e-13;
template <class Real>
constexpr double kBound = sizeof(Real) == sizeof(float) ? 1e-6 : 1e-12;

template <class Real>
FlatPlanResult plan(const Shape& shape, bool real, const std::vector<std::int64_t>& support,
                    std::uint64_t seed = 1) {
  FlatOptions options;
  options.leakage = kLeakage<Real>;
  options.seed = seed;
  return plan_flat_windows(shape, real, support, options);
}

template <class Real>
struct Result {
  std::vector<std::complex<Real>> values;
  std::vector<Real> standard_error;
  ExecutionStats stats;
};

/// Scratch memory of exactly the promised size, full of NaN, so that a sanitizer or the result shows every
/// misuse.
template <class Real>
Result<Real> execute(const FlatPlanData& data, const void* frame, ElementType type,
                     const Real* reference = nullptr) {
  const auto executor = make_flat_executor<Real>(data);
  const auto k = static_cast<std::size_t>(data.coefficients());
  Result<Real> result{std::vector<std::complex<Real>>(k), std::vector<Real>(k), {}};
  const std::unique_ptr<void, decltype(&std::free)> scratch(std::aligned_alloc(64, executor->scratch_bytes()),
                                                            &std::free);
  std::fill_n(static_cast<Real*>(scratch.get()), executor->scratch_bytes() / sizeof(Real),
              std::numeric_limits<Real>::quiet_NaN());
  executor->execute(frame, type, reference, result.values, result.stats,
                    static_cast<std::byte*>(scratch.get()));
  for (std::size_t i = 0; i < k; ++i)
    result.standard_error[i] = static_cast<Real>(std::sqrt(result.stats.scale * data.noise_gain[i]));
  return result;
}

template <class Real, class T>
Result<Real> execute(const FlatPlanData& data, const std::vector<T>& frame, const Real* reference = nullptr) {
  return execute<Real>(data, frame.data(), sfft::element_type_of<T>::value, reference);
}

template <class Real, class T>
void expect_exact(const SparseSignal& signal) {
  const std::string name = signal.shape.to_string() + (signal.real ? " real, k = " : " complex, k = ") +
                           std::to_string(signal.support.size());
  const FlatPlanResult planned = plan<Real>(signal.shape, signal.real, signal.support);
  ASSERT_TRUE(planned.ok) << name << ": " << planned.reason;
  const auto frame = signal.as<T>();
  const Result<Real> result = execute<Real>(planned.data, frame);
  EXPECT_LE(relative_l2(result.values, signal.values), kBound<Real>) << name;
  EXPECT_TRUE(result.stats.finite);
  double energy = 0;
  for (const auto& value : signal.values) energy += std::norm(value);
  EXPECT_LE(result.stats.scale, energy * kBound<Real> * kBound<Real>) << name;
  for (const Real error : result.standard_error) EXPECT_LE(error, std::sqrt(energy) * kBound<Real>);
}

template <class Real>
void expect_exact_everywhere(const Shape& shape, std::int64_t k) {
  using Complex = std::complex<Real>;
  expect_exact<Real, Complex>(SparseSignal::random(shape, false, k, 3));
  expect_exact<Real, Real>(SparseSignal::random(shape, true, k, 4));
}

TEST(FlatWindow, ReadsExactlySparseSignalsOfAnyShape) {
  const std::vector<std::pair<Shape, std::int64_t>> cases{
      {Shape{1}, 1},         {Shape{2}, 1},         {Shape{2}, 2},           {Shape{3}, 2},
      {Shape{17}, 4},        {Shape{101}, 9},       {Shape{1023}, 12},       {Shape{1024}, 12},
      {Shape{1025}, 12},     {Shape{65537}, 1},     {Shape{65537}, 64},      {Shape{65535}, 200},
      {Shape{2, 2}, 4},      {Shape{1, 7}, 3},      {Shape{5, 1, 9}, 10},    {Shape{127, 127}, 60},
      {Shape{509, 521}, 64}, {Shape{768, 432}, 80}, {Shape{31, 37, 41}, 50}, {Shape{32, 32, 32}, 100},
      {Shape{16, 243}, 30}};
  for (const auto& [shape, k] : cases) {
    expect_exact_everywhere<float>(shape, k);
    expect_exact_everywhere<double>(shape, k);
  }
}

TEST(FlatWindow, ReadsAPrimeLengthNearAMillion) {
  expect_exact<float, std::complex<float>>(SparseSignal::random(Shape{1048573}, false, 64, 5));
  expect_exact<double, double>(SparseSignal::random(Shape{1048573}, true, 16, 6));
}

TEST(FlatWindow, ReadsCrowdedSupports) {
  std::vector<std::int64_t> residue, cluster, block, row, column;
  for (std::int64_t i = 0; i < 100; ++i) {
    residue.push_back(7 + 1024 * ((i * 37) % 256));
    cluster.push_back(5000 + i);
    block.push_back((i / 10) * 521 + i % 10 + 1);
    row.push_back(100 * 521 + i + 1);
    column.push_back((i + 1) * 521 + 77);
  }
  const Shape line{1 << 18}, image{509, 521}, square{512, 512};
  for (const unsigned seed : {1u, 2u}) {
    expect_exact<float, std::complex<float>>(SparseSignal::with_support(line, false, residue, seed));
    expect_exact<double, std::complex<double>>(SparseSignal::with_support(line, false, cluster, seed));
    expect_exact<float, float>(SparseSignal::with_support(line, true, cluster, seed));
    expect_exact<float, float>(SparseSignal::with_support(image, true, block, seed));
    expect_exact<double, double>(SparseSignal::with_support(image, true, row, seed));
    expect_exact<float, std::complex<float>>(SparseSignal::with_support(image, false, column, seed));
    expect_exact<float, float>(SparseSignal::with_support(square, true, column, seed));
  }
}

TEST(FlatWindow, ReadsFrequenciesThatAreTheirOwnConjugate) {
  const Shape shape{2 * 4099};
  const auto signal = SparseSignal::with_support(shape, true, {0, 17, 4000, 4099}, 3);
  const FlatPlanResult planned = plan<double>(shape, true, signal.support);
  ASSERT_TRUE(planned.ok) << planned.reason;
  EXPECT_EQ(planned.data.self_conjugate, (std::vector<std::int64_t>{0, 3}));
  const auto result = execute<double>(planned.data, signal.as<double>());
  EXPECT_LE(relative_l2(result.values, signal.values), 1e-12);
  EXPECT_EQ(result.values[0].imag(), 0);
  EXPECT_EQ(result.values[3].imag(), 0);
}

template <class Real, class T>
void expect_type_reads_like_double(const Shape& shape) {
  std::mt19937 generator(9);
  std::vector<T> frame(static_cast<std::size_t>(shape.points()));
  std::vector<double> same;
  for (T& sample : frame) {
    sample = static_cast<T>(generator() % 251);
    same.push_back(static_cast<double>(sample));
  }
  const auto planned = plan<Real>(shape, true, {0, 3, 1000, 2222});
  ASSERT_TRUE(planned.ok) << planned.reason;
  EXPECT_EQ(execute<Real>(planned.data, frame).values, execute<Real>(planned.data, same).values);
}

TEST(FlatWindow, ReadsEveryElementType) {
  const Shape shape{71, 73};
  expect_type_reads_like_double<float, std::uint8_t>(shape);
  expect_type_reads_like_double<float, std::uint16_t>(shape);
  expect_type_reads_like_double<float, float>(shape);
  expect_type_reads_like_double<double, std::uint8_t>(shape);
  expect_type_reads_like_double<double, std::uint16_t>(shape);
  expect_type_reads_like_double<double, float>(shape);
  expect_exact<float, std::complex<double>>(SparseSignal::random(shape, false, 20, 1));
  expect_exact<float, double>(SparseSignal::random(shape, true, 20, 1));
}

TEST(FlatWindow, AFullSupportIsTheDiscreteFourierTransform) {
  const Shape shape{3, 5, 2};
  std::vector<std::int64_t> support(30);
  std::iota(support.begin(), support.end(), std::int64_t{0});
  const auto frame = sfft::test::random_signal(30, 4);
  const std::vector<std::int64_t> grid{3, 5, 2};
  const auto planned = plan<double>(shape, false, support);
  ASSERT_TRUE(planned.ok) << planned.reason;
  const auto result = execute<double>(planned.data, frame);
  EXPECT_LE(relative_l2(result.values, sfft::test::direct_dft(frame, grid)), kBound<double>);
  EXPECT_EQ(result.stats.scale, 0);
}

/// Adds white noise to a sparse signal, and checks the tail energy and the coverage of two standard errors
/// for each component.
template <class T>
void expect_honest_errors(const Shape& shape, bool real, std::int64_t k, double total_gain) {
  const auto signal = SparseSignal::random(shape, real, k, 8);
  FlatOptions options;
  options.total_gain = total_gain;
  const auto planned = plan_flat_windows(shape, real, signal.support, options);
  ASSERT_TRUE(planned.ok) << planned.reason;
  const auto clean = signal.samples();
  std::mt19937_64 generator(11);
  std::normal_distribution<double> normal(0, 1);
  std::vector<T> frame(clean.size());
  double estimate = 0, truth = 0, squares = 0, promised = 0;
  std::int64_t covered = 0, components = 0;
  const std::int64_t repetitions = 40 + 2000 / k;
  for (std::int64_t repetition = 0; repetition < repetitions; ++repetition) {
    double energy = 0;
    for (std::size_t t = 0; t < frame.size(); ++t) {
      // Noise also has energy at the support, but only k/N of it.
      if constexpr (std::is_same_v<T, double>) {
        const double noise = normal(generator);
        energy += noise * noise;
        frame[t] = clean[t].real() + noise;
      } else {
        const double re = normal(generator);
        const std::complex<double> noise(re, normal(generator));
        energy += std::norm(noise);
        frame[t] = clean[t] + noise;
      }
    }
    const auto result = execute<float>(planned.data, frame);
    estimate += result.stats.scale;
    truth += energy * static_cast<double>(shape.points());
    for (std::size_t i = 0; i < signal.values.size(); ++i) {
      const std::complex<double> error = std::complex<double>(result.values[i]) - signal.values[i];
      const double sigma = result.standard_error[i] / std::sqrt(2.0);
      covered += (std::abs(error.real()) <= 2 * sigma) + (std::abs(error.imag()) <= 2 * sigma);
      components += 2;
      squares += std::norm(error);
      promised += 2 * sigma * sigma;
    }
  }
  EXPECT_NEAR(estimate / truth, 1, 0.06);
  EXPECT_NEAR(squares / promised, 1, 0.1);
  const double coverage = static_cast<double>(covered) / static_cast<double>(components);
  EXPECT_GE(coverage, 0.93);
  EXPECT_LE(coverage, 0.97);
}

TEST(FlatWindow, StandardErrorsCoverWhiteNoise) {
  expect_honest_errors<std::complex<double>>(Shape{65537}, false, 64, 0);
  expect_honest_errors<double>(Shape{65537}, true, 64, 0);
  expect_honest_errors<std::complex<double>>(Shape{251, 257}, false, 10, 0.02);
  expect_honest_errors<double>(Shape{256, 256}, true, 150, 0);
}

TEST(FlatWindow, AStrongToneOutsideTheTemplateStaysInItsBuckets) {
  const Shape shape{65537};
  auto signal = SparseSignal::random(shape, false, 64, 12);
  const auto planned = plan<float>(shape, false, signal.support);
  ASSERT_TRUE(planned.ok) << planned.reason;
  const std::vector<std::complex<double>> values = signal.values;
  auto with_tone = signal;
  with_tone.support.push_back(signal.support[10] + 1);
  with_tone.values.emplace_back(100.0 * 65537, 0.0);
  const auto result = execute<float>(planned.data, with_tone.as<std::complex<float>>());
  std::size_t untouched = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    untouched += std::abs(std::complex<double>(result.values[i]) - values[i]) < 1e-4 * 65537;
  }
  EXPECT_GE(untouched, values.size() / 2);
  EXPECT_GT(result.stats.scale, 0);
}

TEST(FlatWindow, SubtractsAReference) {
  for (const bool real : {false, true}) {
    const Shape shape{31, 37, 11};
    const auto before = SparseSignal::random(shape, real, 40, 1);
    const auto after = SparseSignal::with_support(shape, real, before.support, 99);
    const auto planned = plan<double>(shape, real, before.support);
    ASSERT_TRUE(planned.ok) << planned.reason;
    const auto executor = make_flat_executor<double>(planned.data);
    std::vector<double> reference(executor->reference_reals());
    std::vector<std::complex<double>> change;
    for (std::size_t i = 0; i < before.values.size(); ++i)
      change.push_back(after.values[i] - before.values[i]);
    Result<double> result;
    if (real) {
      executor->gather_reference(before.as<double>().data(), ElementType::f64, reference.data());
      result = execute<double>(planned.data, after.as<double>(), reference.data());
    } else {
      executor->gather_reference(before.as<std::complex<double>>().data(), ElementType::c128,
                                 reference.data());
      result = execute<double>(planned.data, after.as<std::complex<double>>(), reference.data());
    }
    EXPECT_LE(relative_l2(result.values, change), 1e-12);
  }
}

TEST(FlatWindow, ReportsSamplesThatAreNotFinite) {
  const Shape shape{65537};
  for (const bool real : {false, true}) {
    const auto signal = SparseSignal::random(shape, real, 20, 2);
    const auto planned = plan<float>(shape, real, signal.support);
    ASSERT_TRUE(planned.ok) << planned.reason;
    std::vector<bool> reads(65537, false);
    std::int64_t read_sample = 0;
    for (const auto& delay : planned.data.delays) {
      walk_line(shape.extents().data(), 1, planned.data.sigma, delay, planned.data.taps(),
                [&](std::int64_t flat) {
                  reads[static_cast<std::size_t>(flat)] = true;
                  read_sample = flat;
                });
    }
    EXPECT_EQ(std::count(reads.begin(), reads.end(), true), planned.data.samples);
    const auto skipped =
        static_cast<std::size_t>(std::find(reads.begin(), reads.end(), false) - reads.begin());
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      auto frame = signal.as<std::complex<float>>();
      std::vector<float> real_frame = signal.as<float>();
      frame[skipped] = bad;
      real_frame[skipped] = bad;
      const auto finite = [&] {
        return (real ? execute<float>(planned.data, real_frame) : execute<float>(planned.data, frame))
            .stats.finite;
      };
      EXPECT_TRUE(finite());
      frame[static_cast<std::size_t>(read_sample)] = {0, bad};
      real_frame[static_cast<std::size_t>(read_sample)] = bad;
      EXPECT_FALSE(finite());
    }
  }
}

TEST(FlatWindow, ASilentFrameIsZeroWithoutError) {
  const auto planned = plan<float>(Shape{1009}, false, {1, 5, 900});
  ASSERT_TRUE(planned.ok) << planned.reason;
  const auto result = execute<float>(planned.data, std::vector<std::complex<float>>(1009));
  for (const auto& value : result.values) EXPECT_EQ(value, std::complex<float>());
  for (const float error : result.standard_error) EXPECT_EQ(error, 0);
  EXPECT_EQ(result.stats.scale, 0);
  EXPECT_TRUE(result.stats.finite);
}

TEST(FlatWindow, TheSameSeedMakesTheSamePlan) {
  const auto support = SparseSignal::random(Shape{509, 521}, false, 100, 2).support;
  const auto first = plan<float>({509, 521}, false, support, 7).data;
  const auto second = plan<float>({509, 521}, false, support, 7).data;
  const auto other = plan<float>({509, 521}, false, support, 8).data;
  EXPECT_EQ(first.sigma, second.sigma);
  EXPECT_EQ(first.delays, second.delays);
  EXPECT_EQ(first.weights, second.weights);
  EXPECT_NE(first.sigma, other.sigma);
}

TEST(FlatWindow, BuysLessNoiseWithMoreSamples) {
  const auto support = SparseSignal::random(Shape{1048573}, false, 50, 2).support;
  FlatOptions options;
  const auto cheap = plan_flat_windows(Shape{1048573}, false, support, options).data;
  options.total_gain = 0.05;
  const auto quiet = plan_flat_windows(Shape{1048573}, false, support, options).data;
  EXPECT_LE(std::accumulate(quiet.noise_gain.begin(), quiet.noise_gain.end(), 0.0), 0.05);
  EXPECT_GT(quiet.samples, cheap.samples);
  EXPECT_GT(predicted_us(quiet), predicted_us(cheap));
  EXPECT_LE(cheap.samples, 50 * 10) << "the cheapest plan has grown";
}

TEST(FlatWindow, FailureIsAnAnswer) {
  const auto expect_failure = [](const Shape& shape, bool real, const std::vector<std::int64_t>& support,
                                 const FlatOptions& options) {
    const FlatPlanResult result = plan_flat_windows(shape, real, support, options);
    EXPECT_FALSE(result.ok);
    EXPECT_FALSE(result.reason.empty());
  };
  const Shape shape{10007};
  FlatOptions options;
  expect_failure(shape, false, {}, options);
  expect_failure(shape, false, {10007}, options);
  expect_failure(shape, false, {-1}, options);
  expect_failure(shape, false, {5, 5}, options);
  expect_failure(shape, true, {5, 10002}, options);
  options.max_samples = 20;
  expect_failure(shape, false, {1, 2, 3}, options);
  options.max_samples = 0;
  for (const double leakage : {0.0, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    options.leakage = leakage;
    expect_failure(shape, false, {1}, options);
  }
  // These are too many frequencies to separate, because there are fewer samples than frequencies.
  options = {};
  options.max_samples = 4000;
  std::vector<std::int64_t> dense(5000);
  std::iota(dense.begin(), dense.end(), std::int64_t{0});
  expect_failure(shape, false, dense, options);
}

}  // namespace
}  // namespace flat_window_test
