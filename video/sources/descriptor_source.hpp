// SPDX-License-Identifier: Apache-2.0
// Reads YUV4MPEG2 from standard input and from files that may be FIFOs. A signal or another thread can end a
// blocked read, whereas std::cin and std::ifstream would keep waiting.
#pragma once

#include <memory>
#include <string>

#include "video/sources/source.hpp"

namespace sfft::video {

std::unique_ptr<FrameSource> open_standard_input();
std::unique_ptr<FrameSource> open_y4m_file(const std::string& path);

}  // namespace sfft::video
