// SPDX-License-Identifier: Apache-2.0
// Encodes bytes for texts and pages: base64 (RFC 4648), checksums, and PNG images.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sfft::video {

std::string base64(std::string_view bytes);
/// Throws Error(file_corrupt) if the text is not base64 or not padded.
std::string bytes_from_base64(std::string_view text);

/// CRC-32 as in zlib and PNG. `before`: the checksum of the preceding bytes.
std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before = 0) noexcept;

/// 8-bit samples, row-major, 1 (grey) or 3 (RGB) channels.
struct Image {
  int width = 0, height = 0, channels = 1;
  std::vector<std::uint8_t> samples;
};

/// The image as a PNG file's bytes.
std::string encode_png(const Image& image);
/// "data:image/png;base64,…"
std::string data_uri(const Image& image);

}  // namespace sfft::video
