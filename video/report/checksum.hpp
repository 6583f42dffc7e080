// SPDX-License-Identifier: Apache-2.0
// A checksum of text that is written as JSON.
#pragma once

#include <cstdint>
#include <string_view>

namespace sfft::video {

/// CRC-32 as in zlib and PNG. `before`: the checksum of the preceding bytes.
std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before = 0) noexcept;

}  // namespace sfft::video
