// SPDX-License-Identifier: Apache-2.0
// Tests the predictions of a plan's witness, and that no tone outside the template escapes it.
#include "template/planning/witness.hpp"

#include <gtest/gtest.h>

#include <set>

#include "bench/known_signals.hpp"
#include "kernels/cpu/stages/witness.hpp"
#include "sfft/sfft.hpp"
#include "sfft/template_access.hpp"
#include "template/data/support_set.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::witness_test {
namespace {

using detail::kWitnessReals;
using test::SparseSignal;

detail::SupportSet support_set(const SparseSignal& signal) {
  return detail::SupportSet(*detail::data_of(
      Template::from_support(signal.shape, signal.real ? Domain::real : Domain::complex, signal.support)));
}

TEST(Witness, PredictsTheSamplesOfASparseSignal) {
  for (const Shape& shape : {Shape{4096}, Shape{997}, Shape{48, 40}, Shape{9, 10, 14}}) {
    for (const bool real : {false, true}) {
      const auto signal = SparseSignal::random(shape, real, 11, 3);
      const auto x = signal.samples();
      const detail::WitnessData data = make_witness(support_set(signal), false, 5);
      const std::size_t count = real ? kWitnessReals : kWitnessReals / 2;
      ASSERT_EQ(data.samples.size(), count);
      for (std::size_t s = 0; s < count; ++s) {
        std::complex<double> predicted = 0;
        for (std::size_t i = 0; i < signal.support.size(); ++i) {
          const auto part = [&](std::size_t row) {
            const double* weights = &data.columns[2 * i * kWitnessReals + row];
            return weights[0] * signal.values[i].real() + weights[kWitnessReals] * signal.values[i].imag();
          };
          predicted += std::complex<double>(part(s), real ? 0 : part(s + count));
        }
        EXPECT_LE(std::abs(predicted - x[static_cast<std::size_t>(data.samples[s])]), 1e-10)
            << shape.to_string() << (real ? " real" : " complex");
      }
    }
  }
}

TEST(Witness, ScattersOverStretchesAndResidues) {
  const auto signal = SparseSignal::random(Shape{1 << 14}, true, 4, 1);
  const detail::WitnessData data = make_witness(support_set(signal), false, 9);
  std::set<std::int64_t> stretches, residues;
  for (const std::int64_t t : data.samples) {
    stretches.insert(t / ((1 << 14) / kWitnessReals));
    residues.insert(t % kWitnessReals);
  }
  EXPECT_EQ(residues.size(), kWitnessReals);
  EXPECT_GE(stretches.size(), kWitnessReals - 4) << "moving to another residue may cross a border";
}

/// Adds a tone of the template's magnitude to x at frequency f.
template <class T>
std::vector<T> with_tone(const SparseSignal& signal, std::int64_t f) {
  auto x = signal.as<T>();
  const auto extra = SparseSignal::with_support(signal.shape, signal.real, {f}, 21).as<T>();
  for (std::size_t t = 0; t < x.size(); ++t) x[t] += extra[t];
  return x;
}

template <class T>
void no_tone_hides(const Shape& shape, std::int64_t k, Path path) {
  const auto signal = SparseSignal::random(shape, std::is_floating_point_v<T>, k, 8);
  const Template tmpl =
      Template::from_support(shape, signal.real ? Domain::real : Domain::complex, signal.support);
  const Plan<float> plan(tmpl, {.path = path});
  double norm = 0;
  for (const auto& value : signal.values) norm += std::norm(value);
  std::mt19937_64 generator(4);
  for (int draw = 0; draw < 60; ++draw) {
    // Half of them alias exactly with a template frequency on every comb of up to that number of buckets.
    const auto any = static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(shape.points()));
    const std::int64_t half = shape.points() / 2;
    const std::int64_t f = draw % 2 == 0 ? any : (signal.support[0] + half) % shape.points();
    const auto taken = [&](std::int64_t g) {
      return std::find(signal.support.begin(), signal.support.end(), g) != signal.support.end();
    };
    if (taken(f) || taken(test::negated(shape, f))) continue;
    const auto spectrum = plan.execute(SignalView(with_tone<T>(signal, f), shape));
    double error = 0;
    for (std::size_t i = 0; i < signal.values.size(); ++i)
      error += std::norm(std::complex<double>(spectrum.values[i]) - signal.values[i]);
    EXPECT_LE(std::sqrt(error), 5 * spectrum.quality.error_l2 + 2e-6 * std::sqrt(norm))
        << shape.to_string() << ", " << to_string(path) << ", f = " << f;
    EXPECT_GE(spectrum.quality.residual, 0.02) << shape.to_string() << ", f = " << f;
  }
}

TEST(Witness, NoToneOutsideTheTemplateIsSilent) {
  no_tone_hides<std::complex<float>>(Shape{4096}, 24, Path::comb);
  no_tone_hides<float>(Shape{4096}, 24, Path::comb);
  no_tone_hides<float>(Shape{48, 64}, 16, Path::comb);
  no_tone_hides<std::complex<double>>(Shape{1021}, 12, Path::flat_window);
}

TEST(Witness, IsNotReadWhereItIsGivenUp) {
  const auto signal = SparseSignal::random(Shape{4096}, false, 16, 2);
  const Template tmpl = Template::from_support(signal.shape, Domain::complex, signal.support);
  const Plan<float> with(tmpl), without(tmpl, {.witness = PlanOptions::Witness::none});
  EXPECT_EQ(with.info().witness_samples, 16);
  EXPECT_EQ(without.info().witness_samples, 0);
  EXPECT_EQ(with.info().samples, without.info().samples + 16);
  const auto x = signal.as<std::complex<float>>();
  const auto a = with.execute(SignalView(x, signal.shape)), b = without.execute(SignalView(x, signal.shape));
  EXPECT_EQ(a.values, b.values) << "recovery does not use the witness";
  EXPECT_LE(a.quality.relative_error, 1e-6);
}

}  // namespace
}  // namespace sfft::witness_test
