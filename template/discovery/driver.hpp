// SPDX-License-Identifier: Apache-2.0
// Finds the frequencies of an unknown signal from far fewer samples than it has.
#pragma once

#include "sfft/types.hpp"
#include "template/discovery/round.hpp"

namespace sfft::detail {

/// Runs rounds of combs if the shape has suitable divisors, and rounds of permuted windowed lines if it has
/// none or if frequencies share a residue class. Fresh samples then decide `verified`. The number of rounds
/// is bounded, and their predicted time by the request's limits. Signals may be complex or real; the result
/// of a real one holds both frequencies of each conjugate pair.
///
/// If the call is stopped, `until_stopped` (or null) receives what was found until then, before Stopped is
/// thrown.
template <class Real>
DiscoveryResult run_discovery(SampleReader& signal, const Shape& shape, const DiscoveryRequest& request,
                              DiscoveryResult* until_stopped = nullptr);

extern template DiscoveryResult run_discovery<float>(SampleReader&, const Shape&, const DiscoveryRequest&,
                                                     DiscoveryResult*);
extern template DiscoveryResult run_discovery<double>(SampleReader&, const Shape&, const DiscoveryRequest&,
                                                      DiscoveryResult*);

}  // namespace sfft::detail
