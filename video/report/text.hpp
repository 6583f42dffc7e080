// SPDX-License-Identifier: Apache-2.0
// Makes external names and messages safe to show, and formats numbers.
#pragma once

#include <string>
#include <string_view>

namespace sfft::video {

/// Returns valid UTF-8 without control characters: these, and bytes that are not UTF-8, become \xNN. A
/// terminal or page thus shows a recording's header or name only as text.
std::string printable(std::string_view text);

/// The same, escaped for HTML.
std::string escape(const std::string& raw);

/// The value for href= in a page at `page` that refers to `file`. If `page` is "-" or empty, the reference
/// works from anywhere.
std::string link_to(const std::string& file, const std::string& page);

/// Formats a CSV field. Spreadsheets read a leading = + - @ as a formula, so such names get a leading blank.
std::string csv_field(const std::string& text);

/// A share in per cent; a dash if unknown.
std::string percent(double share);

}  // namespace sfft::video
