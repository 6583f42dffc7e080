// SPDX-License-Identifier: Apache-2.0
// Sums contain one of each conjugate pair, with weight 2.
#include "sfft/tracking/held_energy.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "kernels/base/math/elements.hpp"
#include "kernels/base/math/region.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

std::vector<double> multiplicities(const Template& tmpl) {
  std::vector<double> out;
  for (const std::int64_t flat : tmpl.support())
    out.push_back(tmpl.domain() == Domain::real && conjugate_index(tmpl.shape(), flat) != flat ? 2 : 1);
  return out;
}

double held_energy(const Template& tmpl, std::span<const std::complex<double>> values) {
  const std::vector<double> multiplicity = multiplicities(tmpl);
  double held = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (tmpl.support()[i] != 0) held += multiplicity[i] * std::norm(values[i]);
  }
  return held;
}

namespace {

template <class Part>
std::complex<double> number(const Part& sample) {
  return static_cast<double>(sample);
}
template <class Part>
std::complex<double> number(const Pair<Part>& sample) {
  return {static_cast<double>(sample.re), static_cast<double>(sample.im)};
}

}  // namespace

double whole_energy(const SignalView& frame) {
  const Shape& shape = frame.shape();
  const std::int64_t columns = shape[shape.rank() - 1];
  double squares = 0;
  std::complex<double> sum;
  for_each_row(frame, [&](const std::byte* row, std::int64_t) {
    with_elements(row, frame.type(), [&](const auto* samples) {
      for (std::int64_t i = 0; i < columns; ++i) {
        const std::complex<double> sample = number(samples[i]);
        squares += std::norm(sample);
        sum += sample;
      }
    });
  });
  return std::max(0.0, static_cast<double>(shape.points()) * squares - std::norm(sum));
}

bool worth_replacing(double held, double all, double below, double outside_below, const Template& fresh) {
  const double fresh_held = held_energy(fresh, fresh.values());
  const bool holds_more = held < below * fresh_held,
             leaves_less = all - fresh_held < outside_below * (all - held);
  if (!holds_more && !leaves_less) return false;
  const auto points = static_cast<double>(fresh.shape().points());
  const std::vector<double> multiplicity = multiplicities(fresh);
  const double chosen = std::accumulate(multiplicity.begin(), multiplicity.end(), 0.0);
  if (!(chosen < points)) return true;
  // The k largest of n independent, exponentially distributed powers with mean p sum to about
  // k p (1 + log(n/k)).
  constexpr double kMargin = 2;
  const double power = std::max(0.0, all - fresh_held) / (points - chosen);
  return fresh_held - held > kMargin * chosen * power * (1 + std::log(points / chosen));
}

}  // namespace sfft::detail
