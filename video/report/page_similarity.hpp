// SPDX-License-Identifier: Apache-2.0
// The page section about the similarity of frames to the template.
#pragma once

#include <string>

#include "video/pipeline/run.hpp"

namespace sfft::video {

/// The HTML of this section; empty if there is no such data.
std::string similarity_section(const RunReport& report);

}  // namespace sfft::video
