// YUV4MPEG2 on standard input, whose blocked reads end when a signal arrives or another thread asks; std::cin
// would go on waiting.
#pragma once

#include <memory>

#include "video/source.hpp"

namespace sfft::video {

std::unique_ptr<FrameSource> open_standard_input();

}  // namespace sfft::video
