// SPDX-License-Identifier: Apache-2.0
// Checks selective dense plans against sums by definition.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "sfft/dense_selective.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test {

/// Random samples that T can hold, and their spectra as a plan lays them out.
template <class T>
struct SelectiveCase {
  using Real =
      std::conditional_t<std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>>, double, float>;
  static constexpr bool kReal = !is_complex(element_type_of<T>::value);

  Shape shape;
  std::int64_t batch;
  std::vector<T> samples;
  ComplexSignal spectra;

  SelectiveCase(const Shape& grid, std::int64_t signals) : shape(grid), batch(signals) {
    ComplexSignal x = random_signal(static_cast<std::size_t>(signals * grid.points()), 11);
    if (std::is_integral_v<T>) {
      for (auto& value : x) value = std::min(255.0, std::abs(std::round(50 * value.real())));
    }
    samples = as_samples<T>(x);
    spectra = expected_spectra(samples, grid, kReal);
  }

  std::int64_t spectrum() const { return static_cast<std::int64_t>(spectra.size()) / batch; }
  /// Error bound of any coefficient: in the worst case the error of the whole spectrum.
  double tolerance() const {
    double power = 0;
    for (const auto& x : spectra) power += std::norm(x);
    return 2 * fft_bound<Real>(static_cast<double>(shape.points())) * std::sqrt(power);
  }

  /// A magnitude that about this share of the coefficients exceeds, with no coefficient near it.
  Real magnitude(double share) const {
    std::vector<double> all;
    for (const auto& x : spectra) all.push_back(std::abs(x));
    std::sort(all.begin(), all.end(), std::greater<>());
    auto at = static_cast<std::size_t>(share * static_cast<double>(all.size()));
    while (at + 1 < all.size() && all[at] - all[at + 1] < 4 * tolerance()) ++at;
    return static_cast<Real>(at + 1 < all.size() ? (all[at] + all[at + 1]) / 2 : 0);
  }

  /// Every second element and some others, ascending.
  std::vector<std::int64_t> support() const {
    std::mt19937 random(3);
    std::vector<std::int64_t> chosen;
    for (std::int64_t element = 0; element < spectrum(); ++element) {
      if (random() % 2 == 0) chosen.push_back(element);
    }
    if (chosen.empty()) chosen.push_back(0);
    return chosen;
  }

  void expect_above(const typename dense::SelectivePlan<Real>::Coefficients& kept, Real magnitude) const {
    std::vector<std::int64_t> expected;
    for (std::size_t i = 0; i < spectra.size(); ++i) {
      if (std::abs(spectra[i]) > static_cast<double>(magnitude))
        expected.push_back(static_cast<std::int64_t>(i));
    }
    ASSERT_EQ(kept.indices, expected) << shape.to_string();
    ASSERT_EQ(kept.values.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expect_value(kept.values[i], expected[i]);
  }
  void expect_at(const std::vector<std::complex<Real>>& values,
                 const std::vector<std::int64_t>& support) const {
    ASSERT_EQ(values.size(), support.size() * static_cast<std::size_t>(batch));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto signal = static_cast<std::int64_t>(i / support.size());
      expect_value(values[i], signal * spectrum() + support[i % support.size()]);
    }
  }

 private:
  void expect_value(const std::complex<Real>& value, std::int64_t index) const {
    const std::complex<double> x(value.real(), value.imag());
    EXPECT_LE(std::abs(x - spectra[static_cast<std::size_t>(index)]), tolerance())
        << shape.to_string() << " element " << index;
  }
};

/// Checks both kinds of plans on host memory.
template <class T>
void expect_selects(const Shape& shape, std::int64_t batch, dense::Options options) {
  using Case = SelectiveCase<T>;
  using Plan = dense::SelectivePlan<typename Case::Real>;
  const Case c(shape, batch);
  options.batch = batch;
  constexpr ElementType kType = element_type_of<T>::value;
  const Plan above = Plan::above(shape, domain_of(kType), options);
  for (const double share : {0.02, 0.7}) {
    const auto magnitude = c.magnitude(share);
    c.expect_above(above.forward_above(c.samples.data(), kType, magnitude), magnitude);
  }
  const std::vector<std::int64_t> support = c.support();
  const Plan at = Plan::at(shape, domain_of(kType), support, options);
  std::vector<std::complex<typename Case::Real>> values(support.size() * static_cast<std::size_t>(batch));
  at.forward_at(c.samples.data(), kType, values);
  c.expect_at(values, support);
}

}  // namespace sfft::test
