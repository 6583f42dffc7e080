// SPDX-License-Identifier: Apache-2.0
// How exact the guard's shifts are and how long they take, beside cv::phaseCorrelate.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/guard/tamper.hpp"

namespace sfft::bench {

/// Frames of the clip against themselves, moved by 0.02 to 20 pixels in eight directions.
nlohmann::ordered_json shifts(const Clip& clip);

}  // namespace sfft::bench
