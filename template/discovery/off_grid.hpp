// SPDX-License-Identifier: Apache-2.0
// Looks for tones between the frequencies of the grid where a search for frequencies on it fails. On a coarse
// grid of every L-th sample a tone is as far from the nearest bin as in the whole spectrum, and its leakage
// and that of a window look the same. Phases between a few delayed coarse grids tell its frequency among the
// L that share a bin.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/base/types.hpp"
#include "template/discovery/sampler.hpp"

namespace sfft::detail {

struct OffGridFinding {
  std::vector<OffGridTone> tones;  ///< strongest first
  /// The leakage of one of them fills more coefficients than a sparse search can find. What fills a line of a
  /// large spectrum may be found coefficient by coefficient.
  bool everywhere = false;
};

/// Tones that are between bins beyond doubt, at most three. Reads about a thousand samples at each of a few
/// delays, in three dimensions two thousand, but nothing if these are more than `max_samples`. Frequencies
/// on the grid that share or adjoin a bin of the coarse grid do not pass: their sum changes its shape from
/// one delay to the next, or has no shape of a tone at all.
template <class Real>
OffGridFinding find_off_grid_tones(DiscoverySampler<Real>& sampler, std::int64_t max_samples);

extern template OffGridFinding find_off_grid_tones<float>(DiscoverySampler<float>&, std::int64_t);
extern template OffGridFinding find_off_grid_tones<double>(DiscoverySampler<double>&, std::int64_t);

}  // namespace sfft::detail
