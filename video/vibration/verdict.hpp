// SPDX-License-Identifier: Apache-2.0
// States the results of a vibration report in words.
#pragma once

#include <string>

#include "video/vibration/analysis.hpp"

namespace sfft::video {

/// Warnings about the regions of a report.
void add_warnings(VibrationReport& report);

/// One sentence on the first region: what vibrates, or that nothing does and which amplitude would have been
/// detected.
std::string verdict(const VibrationReport& report);

}  // namespace sfft::video
