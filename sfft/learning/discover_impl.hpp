// SPDX-License-Identifier: Apache-2.0
// The parts of sfft::discover that learn() and signals in GPU memory share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sfft/discover.hpp"
#include "sfft/learning/device_signal.hpp"
#include "sfft/learning/learning.hpp"
#include "sfft/template.hpp"
#include "sfft/types.hpp"
#include "template/discovery/leakage.hpp"
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

/// Microseconds of a dense transform of the shape by the built-in engine, large primes included.
double dense_us(const Shape& shape, bool real);
/// The same for a dense transform and learn()'s work on a GPU.
double dense_device_us(const Shape& shape, bool real);
/// Whether a failed trial of discovery takes little time compared with the dense transform that follows.
bool worth_a_trial(const Shape& shape, bool real, std::int64_t wanted);

/// Number of frequencies that a dense transform selects if k are wanted. It includes those next to the peaks,
/// which show whether a peak is a tone between bins.
std::int64_t with_neighbours(std::int64_t k, std::int64_t distinct);
/// Moves all but the k largest of a dense transform to its tail; ties go to the smaller index.
void keep_largest(Learned& learned, std::int64_t k);

/// The tones that these coefficients look like. Only the strongest coefficients are examined; `known` is in
/// ascending order of index.
std::vector<OffGridTone> suspected_tones(const Shape& shape, bool real, std::vector<KnownCoefficient> known,
                                         double bound);
std::vector<OffGridTone> suspected_tones(const Learned& learned);

/// Records the tones in the result.
void report_leakage(Discovery& discovery, std::vector<OffGridTone> tones);

}  // namespace sfft::detail
