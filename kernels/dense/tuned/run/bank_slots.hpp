// SPDX-License-Identifier: Apache-2.0
// Finds slots of shared memory for Rader's permutations that make both stores and loads free of bank
// conflicts.
#pragma once

#include <vector>

#include "kernels/dense/tuned/run/tables.hpp"

namespace sfft::detail::tuned {

/// The points that a block's threads access, round by round: entry [round·threads + thread], or −1 for none.
struct Accesses {
  int threads = 1;
  std::vector<int> points;
};

/// Returns a slot for each of `points`. Each slot is used at most once, and point 0 has slot 0. In both
/// accesses, which name a point at most once, no `banks` neighbouring threads meet a bank twice. This is an
/// edge colouring of a bipartite graph with as many colours as its degree (König 1916): a point is an edge
/// between the threads that store it and those that load it.
std::vector<int> slots_for(const Accesses& stores, const Accesses& loads, int points, int banks);

/// Rader's two permutations for a Step::conflict_free() step: byte addresses in the order of a thread's
/// accesses. Each thread has a multiple of four of them.
struct SlotTables {
  std::vector<int> store, gather;  ///< elements in the order of loads from memory; inputs of the first pass
  std::vector<int> scatter, load;  ///< outputs of the last pass; elements in the order of stores to memory
};
SlotTables slot_tables(const Step& step, const Convolution& convolution, bool single);

}  // namespace sfft::detail::tuned
