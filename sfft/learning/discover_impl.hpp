// SPDX-License-Identifier: Apache-2.0
// The parts of sfft::discover that learn() and signals in GPU memory share.
#pragma once

#include <optional>
#include <string>

#include "sfft/discover.hpp"
#include "sfft/learning/device_signal.hpp"
#include "sfft/learning/learning.hpp"
#include "sfft/template.hpp"
#include "template/discovery/sample_reader.hpp"

namespace sfft::detail {

/// Checks the options and discovers. Returns nothing if a dense transform is needed, with the reason in
/// `why`: it was requested, discovery would not pay off, or it was not verified. With dense_fallback = false
/// only the first reason applies.
std::optional<Discovery> discover_or_explain(const SignalView& signal, const DiscoverOptions& options,
                                             std::string& why);
/// The same as a trial before learn()'s dense transform: it succeeds only for exactly sparse signals, and
/// runs only if it takes a few per cent of that transform's time.
std::optional<Discovery> discover_exactly(const SignalView& signal, const DiscoverOptions& options,
                                          std::string& why);

/// A signal and where it is stored.
struct DiscoveryTarget {
  SampleReader& samples;
  const Shape& shape;
  Backend backend;  ///< where the signal is stored
  bool exact_only = false;
};
std::optional<Discovery> discover_or_explain(const DiscoveryTarget& target, const DiscoverOptions& options,
                                             std::string& why);

/// The same for a signal in GPU memory; checks it first.
std::optional<Discovery> discover_or_explain(const DeviceSignal& signal, const DiscoverOptions& options,
                                             std::string& why);

/// Options of the dense learning that replaces discovery. It selects more than options.k frequencies.
LearnOptions dense_options(const DiscoverOptions& options, const SpectrumLayout& layout);
/// Converts the result of that learning, including largest_outside, to a discovery of options.k frequencies.
Discovery from_dense(Learned&& learned, ElementType type, Backend backend, const DiscoverOptions& options,
                     const std::string& why);

}  // namespace sfft::detail
