// SPDX-License-Identifier: Apache-2.0
// Makes external names and messages safe to show, and formats numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sfft::video {

/// Returns valid UTF-8 without control characters and direction marks: these, and bytes that are not UTF-8,
/// become \xNN. A terminal or page thus shows a recording's header or name only as text.
std::string printable(std::string_view text);

/// Returns printable() text, escaped for HTML.
std::string escape(const std::string& raw);

/// Returns the quoted value of href= for a link to `file` from a page at `page`. If `page` is "-" or empty,
/// the link works from anywhere.
std::string link_to(const std::string& file, const std::string& page);

/// Formats a CSV field. Spreadsheets read a leading = + - @ as a formula, so such a text gets a leading
/// space.
std::string csv_field(const std::string& text);

/// A share in per cent; a dash if unknown.
std::string percent(double share);

/// A quoted JSON string in valid UTF-8; other bytes are escaped as printable() does.
std::string json_string(std::string_view text);
/// Enough digits for a microsecond within a week; null for NaN and infinities.
std::string json_number(double value);

/// `,"zones":["yard","gate"]`, or nothing if there are none.
std::string zones_member(const std::vector<std::string>& zones);
/// "yard;gate", for a table's field or an environment variable.
std::string zone_list(const std::vector<std::string>& zones);

}  // namespace sfft::video
