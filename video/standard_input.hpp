// Standard input as a stream whose blocked reads end when a signal arrives; std::cin would go on waiting.
#pragma once

#include <iosfwd>

namespace sfft::video {

std::istream& standard_input();

}  // namespace sfft::video
