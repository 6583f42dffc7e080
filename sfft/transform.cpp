// SPDX-License-Identifier: Apache-2.0
// One-shot transforms: with k by discovery, with another criterion by learning from a dense transform, and at
// a known support by a plan used once.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sfft/sfft.hpp"
#include "template/data/template_data.hpp"

namespace sfft {

Spectrum<double> transform(const SignalView& signal, const TransformOptions& options) {
  if (options.k > 0 && options.energy == 0 && options.threshold_sigma == 0) {
    Discovery discovery = discover(
        signal,
        {.k = options.k, .fallback = options.fallback, .seed = options.seed, .threads = options.threads});
    return static_cast<Spectrum<double>&&>(std::move(discovery));
  }
  const Template tmpl = learn(signal, {.k = options.k,
                                       .energy = options.energy,
                                       .threshold_sigma = options.threshold_sigma,
                                       .threads = options.threads});
  Spectrum<double> spectrum;
  spectrum.support = tmpl.data()->support;
  spectrum.values.assign(tmpl.values().begin(), tmpl.values().end());
  spectrum.standard_error.assign(spectrum.values.size(), 0.0);
  spectrum.tail_energy = tmpl.tail_energy();
  spectrum.residual = std::sqrt(std::max(0.0, 1 - tmpl.energy_captured()));
  spectrum.path = Path::dense;
  spectrum.backend = Backend::cpu;
  spectrum.support_learned_densely = true;
  spectrum.reason = "how many frequencies to keep follows from all of them: a dense transform found them";
  return spectrum;
}

Spectrum<double> transform(const SignalView& frame, const Template& tmpl, const PlanOptions& options) {
  return Plan<double>(tmpl, options).execute(frame);
}

}  // namespace sfft
