// SPDX-License-Identifier: Apache-2.0
// Writes numbers that may be unknown into JSON.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace sfft::video {

/// JSON has neither NaN nor infinity, so they become null.
inline nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace sfft::video
