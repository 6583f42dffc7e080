// SPDX-License-Identifier: Apache-2.0
// Compares the accuracy and speed of the guard's shifts with cv::phaseCorrelate.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/guard/tamper.hpp"

namespace sfft::bench {

/// Compares frames of the clip with copies shifted by 0.02 to 20 pixels in eight directions.
nlohmann::ordered_json shifts(const Clip& clip);

}  // namespace sfft::bench
