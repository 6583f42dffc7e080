// SPDX-License-Identifier: Apache-2.0
// Makes external names and messages safe to show, and formats numbers.
#pragma once

#include <string>
#include <string_view>

namespace sfft::video {

/// Valid UTF-8 without control characters; those, and bytes that are not UTF-8, become \xNN. A recording's
/// header or name thus reaches a terminal or a page only as text.
std::string printable(std::string_view text);

/// The same as HTML.
std::string escape(const std::string& raw);

/// A reference in HTML, as it follows href=, to a file from a page at `page`; "-" or empty: from anywhere.
std::string link_to(const std::string& file, const std::string& page);

/// A CSV field. Spreadsheets take a leading = + - @ for a formula, so such names get a leading blank.
std::string csv_field(const std::string& text);

/// A share in per cent; a dash if unknown.
std::string percent(double share);

}  // namespace sfft::video
