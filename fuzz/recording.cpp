// SPDX-License-Identifier: Apache-2.0
// Fuzzes sfft-video's own parsing of recordings: where a container ends.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "video/sources/recording_end.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  static const int file = ::memfd_create("recording", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (file < 0 || ::ftruncate(file, 0) != 0 || ::pwrite(file, bytes, count, 0) != static_cast<ssize_t>(count))
    std::abort();
  static_cast<void>(sfft::video::file_end(path));
  return 0;
}
