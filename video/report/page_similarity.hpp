// SPDX-License-Identifier: Apache-2.0
// The part of the page about the similarity of frames to the template.
#pragma once

#include <string>

#include "video/pipeline/run.hpp"

namespace sfft::video {

/// Empty where nothing is known of it.
std::string similarity_section(const RunReport& report);

}  // namespace sfft::video
