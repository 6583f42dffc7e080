// SPDX-License-Identifier: Apache-2.0
// Filters each row with "sub", compresses with zlib and writes the three chunks that a PNG needs. Data URIs
// contain the file in base64.
#include "video/report/png.hpp"

#include <zlib.h>

#include <algorithm>
#include <stdexcept>

#include "video/report/base64.hpp"

namespace sfft::video {

namespace {

void put32(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift & 0xFF));
}

void put_chunk(std::string& out, const std::string& type, const std::string& data) {
  put32(out, static_cast<std::uint32_t>(data.size()));
  const std::string checked = type + data;
  out += checked;
  put32(out, static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(checked.data()),
                                              static_cast<uInt>(checked.size()))));
}

}  // namespace

std::string encode_png(const Image& image) {
  const std::size_t row = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.channels);
  std::string raw;
  raw.reserve((row + 1) * static_cast<std::size_t>(image.height));
  for (int y = 0; y < image.height; ++y) {
    raw.push_back(1);  // filter "sub": each sample minus the one to its left
    const std::uint8_t* line = image.samples.data() + static_cast<std::size_t>(y) * row;
    for (std::size_t x = 0; x < row; ++x) {
      const auto left = static_cast<std::size_t>(image.channels);
      raw.push_back(static_cast<char>(line[x] - (x >= left ? line[x - left] : 0)));
    }
  }
  uLongf size = compressBound(static_cast<uLong>(raw.size()));
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(raw.data()),
                static_cast<uLong>(raw.size()), Z_BEST_COMPRESSION) != Z_OK) {
    throw std::runtime_error("PNG compression failed");
  }
  packed.resize(size);

  std::string header;
  put32(header, static_cast<std::uint32_t>(image.width));
  put32(header, static_cast<std::uint32_t>(image.height));
  header += {8, static_cast<char>(image.channels == 3 ? 2 : 0), 0, 0, 0};
  std::string out("\x89PNG\r\n\x1a\n", 8);
  put_chunk(out, "IHDR", header);
  put_chunk(out, "IDAT", packed);
  put_chunk(out, "IEND", "");
  return out;
}

std::string data_uri(const Image& image) {
  return "data:image/png;base64," + base64(encode_png(image));
}

}  // namespace sfft::video
