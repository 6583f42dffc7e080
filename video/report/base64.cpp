// SPDX-License-Identifier: Apache-2.0
// Encodes three bytes as four letters of six bits each.
#include "video/report/base64.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

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

}  // namespace sfft::video
