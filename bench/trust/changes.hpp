// SPDX-License-Identifier: Apache-2.0
// Kinds of change between the frames of a fixed camera, each with a strength that can be set.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/trust/effects.hpp"

namespace sfft::trust {

struct ChangeKind {
  std::string name;
  double min_strength, max_strength;
  /// The seed draws everything but the strength: positions, periods, directions.
  std::function<Effect(double strength, std::uint64_t seed)> make;
};

const std::vector<ChangeKind>& change_kinds();

}  // namespace sfft::trust
