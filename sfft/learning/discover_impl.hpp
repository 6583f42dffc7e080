// SPDX-License-Identifier: Apache-2.0
// The parts of sfft::discover that learn() and signals in GPU memory share with it.
#pragma once

#include <optional>
#include <string>

#include "sfft/discover.hpp"
#include "sfft/learning/learning.hpp"
#include "sfft/template.hpp"
#include "template/discovery/sample_reader.hpp"

namespace sfft::detail {

/// Checks the options and discovers. Returns nothing when a dense transform is needed, with the reason in
/// `why`: because it was asked for, discovery would not pay or it was not verified. With Fallback::none only
/// the first reason counts.
std::optional<Discovery> discover_or_explain(const SignalView& signal, const DiscoverOptions& options,
                                             std::string& why);
/// The same as a trial before learn()'s dense transform: only for signals that are exactly sparse, and only
/// where finding out takes a few per cent of that transform's time.
std::optional<Discovery> discover_exactly(const SignalView& signal, const DiscoverOptions& options,
                                          std::string& why);

/// A signal, wherever it is stored.
struct DiscoveryTarget {
  SampleReader& samples;
  const Shape& shape;
  Backend backend;  ///< where it lies
  bool exact_only = false;
};
std::optional<Discovery> discover_or_explain(const DiscoveryTarget& target, const DiscoverOptions& options,
                                             std::string& why);

/// The same for a signal in GPU memory; checks it first.
std::optional<Discovery> discover_or_explain(const DeviceSignal& signal, const DiscoverOptions& options,
                                             std::string& why);

/// Options of the dense learning that replaces discovery.
LearnOptions dense_options(const DiscoverOptions& options);
/// The result of dense learning, largest_outside included, as a discovery.
Discovery from_dense(Learned&& learned, ElementType type, Backend backend, const DiscoverOptions& options,
                     const std::string& why);

}  // namespace sfft::detail
