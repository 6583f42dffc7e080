// SPDX-License-Identifier: Apache-2.0
// PNG: filters each row with "sub", compresses with zlib and writes the three chunks that a file needs.
#include "video/report/encoding.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>

#include "sfft/error.hpp"

namespace sfft::video {

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNone = 255;

constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  for (auto& value : values) value = kNone;
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<std::uint8_t>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  return values;
}();

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t triple = 0;
    for (std::size_t j = 0; j < 3; ++j)
      triple = triple << 8 | (j < left ? static_cast<std::uint8_t>(bytes[i + j]) : 0);
    for (std::size_t j = 0; j < 4; ++j)
      text.push_back(j <= left ? kAlphabet[triple >> (18 - 6 * j) & 63] : '=');
  }
  return text;
}

std::string bytes_from_base64(std::string_view text) {
  const auto refuse = [] { throw Error(ErrorCode::file_corrupt, "a text is not base64"); };
  if (text.size() % 4 != 0) refuse();
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const std::string_view letters = text.substr(0, text.size() - padding);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char letter : letters) {
    const std::uint8_t value = kValues[static_cast<std::uint8_t>(letter)];
    if (value == kNone) refuse();
    bits = bits << 6 | value;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>(bits >> held & 255));
  }
  return bytes;
}

std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before) noexcept {
  if (bytes.empty()) return before;
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

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
