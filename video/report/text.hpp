// SPDX-License-Identifier: Apache-2.0
// Makes external names and messages safe to show, and formats numbers.
#pragma once

#include <string>
#include <string_view>

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

}  // namespace sfft::video
