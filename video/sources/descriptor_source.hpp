// SPDX-License-Identifier: Apache-2.0
// YUV4MPEG2 from standard input and from files that may be FIFOs: blocked reads end when a signal arrives or
// another thread asks, whereas std::cin and std::ifstream would keep waiting.
#pragma once

#include <memory>
#include <string>

#include "video/sources/source.hpp"

namespace sfft::video {

std::unique_ptr<FrameSource> open_standard_input();
std::unique_ptr<FrameSource> open_y4m_file(const std::string& path);

}  // namespace sfft::video
