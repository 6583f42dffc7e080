// SPDX-License-Identifier: Apache-2.0
// Tests that the paths agree with each other and with the direct sum, even if the signal does not fit the
// template.
#include <gtest/gtest.h>

#include "bench/known_signals.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::paths_parity_test {
namespace {

TEST(Paths, ExactOnesEqualTheDirectSumOnAnySignal) {
  for (const Shape& shape : {Shape{127}, Shape{128}, Shape{9, 14}, Shape{4, 5, 6}}) {
    const auto signal =
        test::SparseSignal::random(shape, false, 50, 2);  // the template contains a few of its frequencies
    const std::vector<std::int64_t> frequencies(signal.support.begin(), signal.support.begin() + 7);
    const auto x = signal.samples();
    const auto truth = test::direct_at(x, shape, frequencies);
    for (const Path path : {Path::direct, Path::dense}) {
      const Plan<double> plan(Template::from_support(shape, Domain::complex, frequencies), {.path = path});
      EXPECT_LE(test::relative_l2(plan.execute(SignalView(x, shape)).values, truth),
                4 * test::fft_bound<double>(static_cast<double>(shape.points())));
    }
  }
}

TEST(Paths, SparseOnesStayWithinTheErrorTheyReport) {
  // Both binning paths notice and report a weak tail of other frequencies.
  for (const bool real : {false, true}) {
    const Shape shape{4096};
    auto signal = test::SparseSignal::random(shape, real, 200, 3);
    std::vector<std::int64_t> strong;
    std::vector<std::complex<double>> truth;
    for (std::size_t i = 0; i < 200; ++i) {
      if (i % 10 == 0) {
        strong.push_back(signal.support[i]);
        truth.push_back(signal.values[i]);
      } else {
        signal.values[i] *= 0.01;
      }
    }
    const auto z = signal.samples();
    std::vector<double> x;
    for (const auto& value : z) x.push_back(value.real());
    const SignalView frame = real ? SignalView(x, shape) : SignalView(z, shape);
    for (const Path path : {Path::comb, Path::flat_window}) {
      const Plan<double> plan(Template::from_support(shape, real ? Domain::real : Domain::complex, strong),
                              {.path = path});
      const auto spectrum = plan.execute(frame);
      double error = 0;
      for (std::size_t i = 0; i < truth.size(); ++i) error += std::norm(spectrum.values[i] - truth[i]);
      EXPECT_LE(std::sqrt(error), 2 * spectrum.quality.error_l2) << to_string(path) << "\n" << plan.explain();
      EXPECT_GE(std::sqrt(error), 0.1 * spectrum.quality.error_l2) << to_string(path);
      EXPECT_GT(spectrum.quality.tail_energy, 0);
    }
  }
}

TEST(Paths, CrowdedResidueClassesGoThroughTheFlatWindow) {
  // Every frequency is ≡ 5 modulo 2^10, so no comb of a power of two separates them.
  std::vector<std::int64_t> support;
  for (std::int64_t i = 0; i < 48; ++i) support.push_back(5 + 1024 * i);
  const Shape shape{1 << 16};
  const auto signal = test::SparseSignal::with_support(shape, false, support, 4);
  const auto x = signal.samples();
  for (const Path path : {Path::automatic, Path::flat_window}) {
    const Plan<double> plan(Template::from_support(shape, Domain::complex, support), {.path = path});
    EXPECT_LE(test::relative_l2(plan.execute(SignalView::line(x)).values, signal.values), 1e-11)
        << plan.explain();
  }
}

}  // namespace
}  // namespace sfft::paths_parity_test
