// SPDX-License-Identifier: Apache-2.0
// Signals with a known answer for the benchmarks.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <unordered_set>
#include <vector>

#include "sfft/sfft.hpp"

namespace sfft::bench {

/// k distinct random frequencies of N, ascending, and coefficients of random phase and modulus N.
struct SparseSpectrum {
  std::int64_t points;
  std::vector<std::int64_t> support;
  std::vector<std::complex<double>> values;

  SparseSpectrum(std::int64_t n, std::int64_t k, std::uint64_t seed) : points(n) {
    std::mt19937_64 random(seed);
    std::unordered_set<std::int64_t> chosen;
    while (static_cast<std::int64_t>(chosen.size()) < k) {
      chosen.insert(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)));
    }
    support.assign(chosen.begin(), chosen.end());
    std::sort(support.begin(), support.end());
    std::uniform_real_distribution<double> turn(0, 2 * std::numbers::pi);
    for (std::int64_t i = 0; i < k; ++i) values.push_back(std::polar(static_cast<double>(n), turn(random)));
  }

  /// x[t] by an inverse dense transform in double, plus white complex noise of standard deviation `sigma`.
  template <class Real>
  std::vector<std::complex<Real>> samples(double sigma = 0, std::uint64_t seed = 1) const {
    const dense::Plan<double> plan(Shape{points}, Domain::complex);
    std::vector<std::complex<double>> spectrum(static_cast<std::size_t>(points));
    for (std::size_t i = 0; i < support.size(); ++i)
      spectrum[static_cast<std::size_t>(support[i])] = values[i];
    plan.inverse(spectrum, spectrum);
    std::mt19937_64 random(seed);
    std::normal_distribution<double> noise(0, sigma / std::numbers::sqrt2);
    std::vector<std::complex<Real>> x;
    x.reserve(spectrum.size());
    for (const std::complex<double>& sample : spectrum) {
      x.emplace_back(sigma > 0 ? sample + std::complex<double>(noise(random), noise(random)) : sample);
    }
    return x;
  }

  template <class Value>
  double relative_error(const std::vector<Value>& estimate) const {
    double error = 0;
    double norm = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      error += std::norm(std::complex<double>(estimate[i]) - values[i]);
      norm += std::norm(values[i]);
    }
    return std::sqrt(error / norm);
  }
};

}  // namespace sfft::bench
