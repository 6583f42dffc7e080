// SPDX-License-Identifier: Apache-2.0
// The coordinates that all parts of discovery exchange.
#pragma once

#include <array>
#include <cstdint>

namespace sfft::detail {

/// Coordinates of a sample or a frequency; 0 beyond the rank.
using GridPoint = std::array<std::int64_t, 3>;

}  // namespace sfft::detail
