// SPDX-License-Identifier: Apache-2.0
// Sums gains and biases over the support, weights each coefficient by how well it separates the prior's scale
// from the tail's, and sets the limits within which a witness may differ.
#include "template/planning/error_table.hpp"

#include <cmath>

namespace sfft::detail {

ErrorTable exact_errors(const SupportSet& support) {
  const std::vector<double> none(static_cast<std::size_t>(support.k), 0.0);
  return make_error_table(support, {none, {}, {}, 1});
}

ErrorTable make_error_table(const SupportSet& support, RowErrors rows) {
  ErrorTable table;
  ErrorModel& model = table.model;
  const auto k = static_cast<std::size_t>(support.k);
  table.gain = std::move(rows.gain);
  table.bias = std::move(rows.bias);
  table.bias.resize(k, 0.0);
  table.fit.assign(k, 0.0);
  model.tail_per_scale = rows.tail_per_scale;
  // Variance of the fit: |X|² of a complex Gaussian X has a standard deviation equal to its mean.
  double scatter = 0;
  model.halves = support.real ? 2 : 1;
  for (const SupportMember& member : support.members) {
    const auto i = static_cast<std::size_t>(member.coefficient);
    model.spread_gain += table.gain[i];
    model.spread_bias += table.bias[i];
    if (member.conjugate || member.coefficient == support.mean_coefficient) continue;
    model.gain_sum += table.gain[i];
    model.bias_sum += table.bias[i];
    if (rows.response.empty()) continue;
    // Weight each coefficient by how well it separates the prior's scale from the tail's.
    const double power = rows.response[i] + table.gain[i];
    if (!(power > 0)) continue;
    table.fit[i] = 1 / power;
    model.fit_power += rows.response[i] / power;
    model.fit_noise += table.gain[i] / power;
    scatter += table.gain[i] / power * (table.gain[i] / power);
  }
  if (rows.tail_values > 0) scatter += model.fit_noise * model.fit_noise / rows.tail_values;
  model.fit_scatter = std::sqrt(scatter);
  return table;
}

void add_witness(ErrorModel& model, const SupportSet& support, double epsilon, TailKnowledge tail) {
  const auto points = static_cast<double>(support.shape.points());
  // A prediction sums 2k rounded products; the values themselves carry the transform's rounding.
  const double rounding = epsilon * (16 + std::sqrt(static_cast<double>(support.k)));
  model.witness_scale = points * points;
  model.witness_rounding = rounding * rounding;
  // A sudden step in the errors of frames near the limit would be worse than a limit that is too
  // high.
  constexpr double kMeasured = 2.25, kGuessed = 5;
  if (tail != TailKnowledge::white)
    model.witness_limit = model.witness_allowed = tail == TailKnowledge::measured ? kMeasured : kGuessed;
}

}  // namespace sfft::detail
