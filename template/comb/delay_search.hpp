// SPDX-License-Identifier: Apache-2.0
// Chooses a plan's delays: lattices or clusters within a cache line, seeded random draws, then coordinate
// descent.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "template/comb/comb_model.hpp"

namespace sfft::detail {

struct DelayChoice {
  std::vector<Delay> delays;
  CombModel::Quality quality;  ///< over the buckets that `final_groups` selects
};

/// Options of search_delays().
struct DelaySearch {
  std::int64_t count = 1;     ///< r
  std::int64_t reach = 0;     ///< > 0: clustered within this many neighbouring samples
  std::int64_t row_sets = 0;  ///< > 0: for an image, number of rows within one stride at which delays begin
  bool mirrored = true;       ///< also tries mirrored lattices
  bool few_lattices = false;  ///< tries only the most promising lattices
  int draws = 12;             ///< random sets to try
  int sweeps = 1;             ///< sweeps of coordinate descent
  std::size_t groups = 48;    ///< buckets examined during the search
  std::size_t final_groups = 0;  ///< buckets that assess the winner; 0: all; equal to `groups`: the same ones
  std::uint64_t seed = 1;
};
/// The best delays found for a model, by predicted error (or noise gain, if the tail is unknown). Clustered
/// delays lie along the last dimension, so that they share cache lines. Returns nothing if no set of delays
/// gives a solvable system.
std::optional<DelayChoice> search_delays(CombModel& model, const Shape& shape, const DelaySearch& options);

}  // namespace sfft::detail
