// SPDX-License-Identifier: Apache-2.0
// Computes the checksum with zlib's CRC-32.
#include "video/report/checksum.hpp"

#include <zlib.h>

namespace sfft::video {

std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before) noexcept {
  if (bytes.empty()) return before;
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace sfft::video
