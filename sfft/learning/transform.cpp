// SPDX-License-Identifier: Apache-2.0
// One-shot transforms: with k by discovery, with another criterion by learning from a dense transform, and at
// a known support by a plan used once.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sfft/error.hpp"
#include "sfft/learning/learning.hpp"
#include "sfft/sfft.hpp"
#include "sfft/template_access.hpp"

namespace sfft {

Discovery transform(const SignalView& signal, const Criterion& keep, const DiscoverOptions& options) {
  if (options.k != 0) {
    throw Error(ErrorCode::invalid_argument,
                "transform() keeps what its second argument says: leave DiscoverOptions::k out");
  }
  const LearnOptions learning{.keep = keep, .threads = options.threads};
  detail::check_criteria(learning);
  if (const std::int64_t k = detail::largest_k(learning); k > 0) {
    DiscoverOptions largest = options;
    largest.k = k;
    return discover(signal, largest);
  }
  const Template tmpl = learn(signal, learning);
  Discovery result;
  Spectrum<double>& spectrum = result.spectrum;
  spectrum.shape = tmpl.shape();
  spectrum.domain = tmpl.domain();
  spectrum.support = detail::data_of(tmpl)->support;
  spectrum.values.assign(tmpl.values().begin(), tmpl.values().end());
  spectrum.standard_error.assign(spectrum.values.size(), 0.0);
  spectrum.quality.tail_energy = tmpl.tail_energy();
  spectrum.quality.residual = std::sqrt(std::max(0.0, 1 - tmpl.energy_captured()));
  spectrum.path = Path::dense;
  spectrum.backend = Backend::cpu;
  result.support_learned_densely = true;
  result.reason = "how many frequencies to keep follows from all of them: a dense transform found them";
  result.samples = tmpl.shape().points();
  result.shortest_burst = 1;
  return result;
}

Spectrum<double> transform(const SignalView& frame, const Template& tmpl, const PlanOptions& options) {
  return Plan<double>(tmpl, options).execute(frame);
}

}  // namespace sfft
