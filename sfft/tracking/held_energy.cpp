// SPDX-License-Identifier: Apache-2.0
// Sums over one of each conjugate pair, counted twice.
#include "sfft/tracking/held_energy.hpp"

#include <cmath>

#include "template/data/template_data.hpp"

namespace sfft::detail {

std::vector<double> multiplicities(const Template& tmpl) {
  std::vector<double> out;
  for (const std::int64_t flat : tmpl.support())
    out.push_back(tmpl.is_real() && conjugate_index(tmpl.shape(), flat) != flat ? 2 : 1);
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

}  // namespace sfft::detail
