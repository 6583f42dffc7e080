// SPDX-License-Identifier: Apache-2.0
// Behind sfft::discover: what learn() and signals in GPU memory share with it.
#pragma once

#include <optional>
#include <string>

#include "sfft/discover.hpp"
#include "sfft/template.hpp"
#include "template/discovery/sample_reader.hpp"
#include "template/learning/learning_spectrum.hpp"

namespace sfft::detail {

/// Checks the options and discovers. Nothing where a dense transform is called for, with the reason in `why`:
/// always when discovery did not pay or was not verified, unless options.fallback is none.
std::optional<Discovery> discover_or_explain(const SignalView& signal, const DiscoverOptions& options,
                                             std::string& why);

/// A signal anywhere.
struct DiscoveryTarget {
  SampleReader& samples;
  const Shape& shape;
  Backend backend;  ///< where it lies
};
std::optional<Discovery> discover_or_explain(const DiscoveryTarget& target, const DiscoverOptions& options,
                                             std::string& why);

/// What to learn where a dense transform is called for, and what was learned as a discovery.
LearnOptions dense_options(const DiscoverOptions& options);
/// Selects from the spectrum, and removes from it what was selected.
Discovery from_dense(LearningSpectrum& spectrum, ElementType type, Backend backend,
                     const DiscoverOptions& options, const std::string& why);

}  // namespace sfft::detail
