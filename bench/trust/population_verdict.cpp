// SPDX-License-Identifier: Apache-2.0
// Compares errors with the limits that an answer reports, each beyond the rounding of the element type.
#include "bench/trust/population_verdict.hpp"

#include <cmath>
#include <limits>

#include "bench/known_signals.hpp"

namespace sfft::bench {

namespace {

using Complex = std::complex<double>;

}  // namespace

Verdict judge(const Discovery& found, const std::vector<Complex>& truth, const PopulationSignal& signal,
              const Question& question) {
  const bool twice = question.type == ElementType::f64 || question.type == ElementType::c128;
  const double epsilon =
      twice ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  double energy = std::numeric_limits<double>::min();  // a signal may be zero
  for (const Complex& value : truth) energy += std::norm(value);
  // The reference is a transform in double precision, whose error is up to 3.5 epsilon.
  const double rounding = (twice ? 8 : 4) * epsilon * std::sqrt(energy);
  std::vector<char> held(truth.size(), 0);
  Verdict verdict;
  double error = 0, reported = 0;
  for (std::size_t i = 0; i < found.spectrum.values.size(); ++i) {
    const std::int64_t f = (*found.spectrum.support)[i];
    const Complex value = found.spectrum.values[i] / question.scale;
    const double own = found.spectrum.standard_error[i] / question.scale;
    const double off = std::abs(value - truth[static_cast<std::size_t>(f)]);
    error += off * off;
    verdict.single = std::max(verdict.single, off / (5 * own + rounding));
    reported += own * own;
    held[static_cast<std::size_t>(f)] = 1;
    if (signal.real) held[static_cast<std::size_t>(test::negated(signal.shape, f))] = 1;
  }
  double largest = 0, tail = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (held[i]) continue;
    largest = std::max(largest, std::norm(truth[i]));
    tail += std::norm(truth[i]);
  }
  verdict.missed = std::sqrt(largest) / (2 * found.missed_bound / question.scale + rounding);
  verdict.values = std::sqrt(error) / (5 * std::sqrt(reported) + rounding);
  // The square itself may leave the range of double precision.
  const double told = std::sqrt(found.spectrum.quality.tail_energy) / question.scale;
  const bool in_range =
      found.spectrum.quality.tail_energy > 1e-290 && found.spectrum.quality.tail_energy < 1e290;
  const double spread = rounding * std::sqrt(static_cast<double>(truth.size())) / 8;
  verdict.tail = in_range ? std::sqrt(tail) / (2 * told + rounding + spread) : 0;
  return verdict;
}

std::int64_t differing_samples(const Discovery& found, std::vector<Complex> rest,
                               const PopulationSignal& signal, double scale) {
  for (std::size_t i = 0; i < found.spectrum.values.size(); ++i) {
    const std::int64_t f = (*found.spectrum.support)[i];
    const Complex value = found.spectrum.values[i] / scale;
    rest[static_cast<std::size_t>(f)] -= value;
    const std::int64_t mirrored = test::negated(signal.shape, f);
    if (signal.real && mirrored != f) rest[static_cast<std::size_t>(mirrored)] -= std::conj(value);
  }
  transform_in_place(signal.shape, rest, true);
  double largest = 0;
  for (const Complex& r : rest) largest = std::max(largest, std::abs(r));
  return std::count_if(rest.begin(), rest.end(),
                       [&](const Complex& r) { return std::abs(r) > 1e-2 * largest; });
}

}  // namespace sfft::bench
