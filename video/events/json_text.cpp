// SPDX-License-Identifier: Apache-2.0
// External names are made printable, then quotes and backslashes are escaped.
#include "video/events/json_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "video/report/text.hpp"

namespace sfft::video {

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
