// SPDX-License-Identifier: Apache-2.0
// Decides what a plan may assume about future frames: an exactly sparse spectrum, the powers that learning
// measured, or the power of changes to a reference frame.
#include "template/data/support_set.hpp"

#include <algorithm>
#include <numeric>

namespace sfft::detail {

SpectralPrior make_prior(const TemplateData& data, const SupportSet& support, bool reference) {
  SpectralPrior prior;
  const CellGrid grid(data.shape);
  // A tail below this share of the template's energy is rounding of the learning transform.
  constexpr double kRounding = 1e-12;
  const double held = std::accumulate(data.power.begin(), data.power.end(), 0.0);
  const bool exactly_sparse = !(data.tail_energy > kRounding * held);
  if (data.values.empty() || exactly_sparse || (reference && data.change_envelope.zero())) {
    prior.tail.power.assign(grid.cells(), 0.0);
    return prior;
  }
  prior.common_scale = reference;
  prior.tail = reference ? data.change_envelope : data.tail_envelope;
  if (!reference) {
    prior.support_power = data.power;
    return prior;
  }
  prior.support_power.resize(static_cast<std::size_t>(support.k));
  for (const SupportMember& member : support.members) {
    prior.support_power[static_cast<std::size_t>(member.coefficient)] =
        data.change_envelope.power[grid.cell(member.f)];
  }
  return prior;
}

std::vector<std::int64_t> SupportSet::self_conjugate() const {
  std::vector<char> paired(static_cast<std::size_t>(k), 0);
  for (const SupportMember& member : members) {
    if (member.conjugate) paired[static_cast<std::size_t>(member.coefficient)] = 1;
  }
  std::vector<std::int64_t> own;
  for (std::int64_t i = 0; i < k; ++i) {
    if (!paired[static_cast<std::size_t>(i)] && i != mean_coefficient) own.push_back(i);
  }
  return own;
}

PriorEnergies prior_energies(const SupportSet& support, const SpectralPrior& prior) {
  const CellGrid grid(support.shape);
  const std::vector<double> counts = grid.counts();
  double tail = 0;
  for (std::size_t c = 0; c < counts.size(); ++c) tail += counts[c] * prior.tail.power[c];
  for (const SupportMember& member : support.members) tail -= prior.tail.power[grid.cell(member.f)];
  double held = 0;
  for (std::int64_t i = 0; i < support.k; ++i) {
    if (i != support.mean_coefficient) held += prior.support_power[static_cast<std::size_t>(i)];
  }
  return {std::max(tail, 1e-300), std::max(held, 1e-300)};
}

}  // namespace sfft::detail
