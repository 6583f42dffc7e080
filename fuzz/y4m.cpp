// SPDX-License-Identifier: Apache-2.0
// Fuzzes YUV4MPEG2: any stream ends cleanly or with an InputError; frames have the size that the header says.
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "video/sources/y4m_source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  std::istringstream stream(std::string(reinterpret_cast<const char*>(bytes), count));
  try {
    const auto source = sfft::video::open_y4m(stream, "fuzz", static_cast<std::int64_t>(count));
    sfft::video::Frame frame;
    for (int t = 0; t < 100 && source->next(frame); ++t) {
      const auto points = static_cast<std::size_t>(frame.width * frame.height);
      if (frame.samples.size() != points * (frame.bit_depth16 ? 2 : 1)) std::abort();
    }
  } catch (const sfft::video::InputError&) {
  }
  return 0;
}
