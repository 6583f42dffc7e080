// SPDX-License-Identifier: Apache-2.0
// Decides whether neighbouring coefficients are the leakage of tones between bins.
#pragma once

#include <cstdint>

#include "sfft/discover.hpp"
#include "sfft/learning/learning.hpp"
#include "template/discovery/leakage.hpp"

namespace sfft::detail {

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
