// SPDX-License-Identifier: Apache-2.0
// Looks for tones between the frequencies of the grid after a search for frequencies on it has failed. On a
// coarse grid of every L-th sample, a tone is as far from the nearest bin as in the whole spectrum, and its
// leakage, also under a window, looks the same. Phases between a few delayed coarse grids identify its
// frequency among the L that share a bin.
#pragma once

#include <cstdint>
#include <vector>

#include "sfft/types.hpp"
#include "template/discovery/sampler.hpp"

namespace sfft::detail {

struct OffGridFinding {
  std::vector<OffGridTone> tones;  ///< strongest first
  /// The leakage of one of them fills more coefficients than a sparse search can find. Leakage along one line
  /// of a large spectrum may be found coefficient by coefficient.
  bool everywhere = false;
};

/// Finds at most three tones that certainly lie between bins. Reads about a thousand samples (two thousand in
/// three dimensions) at each of a few delays, or nothing if that exceeds `max_samples`. Frequencies on the
/// grid that share or adjoin a bin of the coarse grid do not pass for a tone: their sum changes its shape
/// from one delay to the next, or never has the shape of a tone.
template <class Real>
OffGridFinding find_off_grid_tones(DiscoverySampler<Real>& sampler, std::int64_t max_samples);

extern template OffGridFinding find_off_grid_tones<float>(DiscoverySampler<float>&, std::int64_t);
extern template OffGridFinding find_off_grid_tones<double>(DiscoverySampler<double>&, std::int64_t);

}  // namespace sfft::detail
