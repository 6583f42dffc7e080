// SPDX-License-Identifier: Apache-2.0
// Decodes UTF-8 by hand, so that overlong forms, surrogates, control characters and direction marks are
// all escaped.
#include "video/report/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <filesystem>

namespace sfft::video {

namespace {

/// Length in bytes of the first UTF-8 character of `text`. 0 if it is malformed (Unicode, table 3-7) or must
/// not be shown, such as the control characters C0 and C1.
std::size_t shown_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  std::uint32_t code = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0u) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::uint32_t kMin[5] = {0, 0, 0xA0, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  // Marks that change the writing direction can make one name look like another.
  const bool turning = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return code >= kMin[length] && code <= 0x10FFFF && !surrogate && !turning ? length : 0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = shown_character(text);
    if (length > 0) {
      shown += text.substr(0, length);
    } else {
      shown += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[0]));
    }
    text.remove_prefix(length > 0 ? length : 1);
  }
  return shown;
}

std::string escape(const std::string& raw) {
  std::string out;
  for (const char c : printable(raw)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string link_to(const std::string& file, const std::string& page) {
  namespace fs = std::filesystem;
  std::error_code code;
  fs::path path = fs::weakly_canonical(fs::absolute(file, code), code);
  if (!page.empty() && page != "-") {
    const fs::path folder = fs::weakly_canonical(fs::absolute(page, code), code).parent_path();
    if (const fs::path relative = path.lexically_relative(folder); !relative.empty()) path = relative;
  }
  std::string text = "'";
  for (const char c : path.empty() ? file : path.string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-_.~/").find(c) != std::string_view::npos;
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text + "'";
}

std::string csv_field(const std::string& text) {
  std::string quoted = "\"";
  if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos) quoted += ' ';
  for (const char c : printable(text)) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.2f} %", 100 * share) : "–";
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string json_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.12g}", value) : "null";
}

std::string zones_member(const std::vector<std::string>& zones) {
  std::string list;
  for (const std::string& zone : zones)
    list += fmt::format("{}{}", list.empty() ? "" : ",", json_string(zone));
  return list.empty() ? list : fmt::format(",\"zones\":[{}]", list);
}

std::string zone_list(const std::vector<std::string>& zones) {
  std::string list;
  for (const std::string& zone : zones) list += (list.empty() ? "" : ";") + zone;
  return list;
}

}  // namespace sfft::video
