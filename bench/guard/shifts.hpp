// SPDX-License-Identifier: Apache-2.0
// Accuracy and speed of the guard's shifts, compared with cv::phaseCorrelate.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/guard/tamper.hpp"

namespace sfft::bench {

/// Frames of the clip against copies shifted by 0.02 to 20 pixels in eight directions.
nlohmann::ordered_json shifts(const Clip& clip);

}  // namespace sfft::bench
