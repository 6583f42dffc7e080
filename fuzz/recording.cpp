// SPDX-License-Identifier: Apache-2.0
// Fuzzes what sfft-video itself reads of recordings: headers of frames, and where a container ends.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "video/sources/file_end.hpp"
#include "video/sources/frame_header.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const std::span<const std::uint8_t> data(bytes, count);
  for (const auto& size : {sfft::video::jpeg_size(data), sfft::video::vp9_size(data)}) {
    if (size && (size->width < 0 || size->width > 65536 || size->height < 0 || size->height > 65536))
      std::abort();
  }
  static const int file = ::memfd_create("recording", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (file < 0 || ::ftruncate(file, 0) != 0 || ::pwrite(file, bytes, count, 0) != static_cast<ssize_t>(count))
    std::abort();
  static_cast<void>(sfft::video::file_end(path));
  return 0;
}
