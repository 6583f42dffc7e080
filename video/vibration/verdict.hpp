// SPDX-License-Identifier: Apache-2.0
// The report on vibration in words.
#pragma once

#include <string>

#include "video/vibration/analysis.hpp"

namespace sfft::video {

/// Warnings about the regions of a report.
void add_warnings(VibrationReport& report);

/// One sentence on the first region: what vibrates, or that nothing does and what would have been seen.
std::string verdict(const VibrationReport& report);

}  // namespace sfft::video
