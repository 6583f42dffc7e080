// SPDX-License-Identifier: Apache-2.0
// Encodes PNG images in memory, for HTML pages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sfft::video {

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
