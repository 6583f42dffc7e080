// SPDX-License-Identifier: Apache-2.0
// How reports write numbers that may be unknown.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace sfft::video {

/// JSON knows neither NaN nor infinity: they become null.
inline nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace sfft::video
