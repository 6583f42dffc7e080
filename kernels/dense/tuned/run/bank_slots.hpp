// SPDX-License-Identifier: Apache-2.0
// Finds slots of shared memory for Rader's permutations, such that neither stores nor loads have bank
// conflicts.
#pragma once

#include <vector>

#include "kernels/dense/tuned/run/tables.hpp"

namespace sfft::detail::tuned {

/// The points that a block's threads access, round by round: [round·threads + thread]; −1: none.
struct Accesses {
  int threads = 1;
  std::vector<int> points;
};

/// A slot for each of `points`, each slot at most once and 0 for point 0, such that in both accesses, which
/// name a point at most once, no `banks` neighbouring threads meet a bank twice: an edge colouring of a
/// bipartite graph by its degree (König 1916), where a point is an edge between the threads that store it and
/// those that load it.
std::vector<int> slots_for(const Accesses& stores, const Accesses& loads, int points, int banks);

/// Rader's two permutations of a step that is Step::conflict_free(): byte addresses in the order of a
/// thread's accesses, in whole words of four for every thread.
struct SlotTables {
  std::vector<int> store, gather;  ///< elements as they are loaded from memory; inputs of the first pass
  std::vector<int> scatter, load;  ///< outputs of the last pass; elements as they are stored to memory
};
SlotTables slot_tables(const Step& step, const Convolution& convolution, bool single);

}  // namespace sfft::detail::tuned
