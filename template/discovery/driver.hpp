// SPDX-License-Identifier: Apache-2.0
// Finds the frequencies of an unknown signal from far fewer samples than it has.
#pragma once

#include "sfft/types.hpp"
#include "template/discovery/round.hpp"

namespace sfft::detail {

/// Rounds of combs if the shape divides well; rounds of permuted windowed lines if it does not or if
/// frequencies share a residue class. Then a round of fresh samples decides `verified`. The number of rounds
/// is bounded, and their time by the request's limits. Complex and real signals; a real one's result holds
/// both frequencies of each conjugate pair.
template <class Real>
DiscoveryResult run_discovery(SampleReader& signal, const Shape& shape, const DiscoveryRequest& request);

extern template DiscoveryResult run_discovery<float>(SampleReader&, const Shape&, const DiscoveryRequest&);
extern template DiscoveryResult run_discovery<double>(SampleReader&, const Shape&, const DiscoveryRequest&);

}  // namespace sfft::detail
