// SPDX-License-Identifier: Apache-2.0
// Places in shared memory for permutations that neither meet a bank twice when they write nor when they read.
#pragma once

#include <vector>

#include "kernels/dense/tuned/tables.hpp"

namespace sfft::detail::tuned {

/// The points that a block's threads access, step by step: [step·threads + thread]; −1: none.
struct Accesses {
  int threads = 1;
  std::vector<int> points;
};

/// For each of `points` a place, no place twice and 0 for point 0, such that of both accesses, which name a
/// point once at most, no `banks` neighbouring threads meet a bank twice: the colouring of a bipartite
/// graph's edges by its degree (König 1916), where a point is an edge between the threads that write and
/// those that read it.
std::vector<int> places_for(const Accesses& writes, const Accesses& reads, int points, int banks);
/// Of the grid that a DFT of several dimensions is computed in (line_fft.cuh): places between neighbours of a
/// dimension. `spread`: threads hold neighbours of the first dimension first in all passes but its own, so
/// that the distance between those is one by which they, and the next ones, meet every bank once.
std::vector<int> grid_strides(const LineChoice& line, bool spread, bool single);
/// Places that a line of `points` which has places needs, for its permutations and for its grid.
int places_of(const LineChoice& line, int points, bool single);

/// Rader's two permutations of a step that Step::has_places(), by byte addresses in the order of a thread's
/// accesses, in whole words of four for every thread.
struct PlacedPermutations {
  std::vector<int> store, gather;  ///< elements as they are read; inputs of the first pass
  std::vector<int> scatter, load;  ///< outputs of the last pass; elements as they are written
};
PlacedPermutations placed_permutations(const Step& step, const Convolution& convolution, bool single);

}  // namespace sfft::detail::tuned
