// SPDX-License-Identifier: Apache-2.0
// Makes names and messages from outside safe to show, and writes numbers.
#pragma once

#include <string>
#include <string_view>

namespace sfft::video {

/// Valid UTF-8 without control characters: these, and bytes that are not UTF-8, become \xNN. Thus a
/// recording's header or name reaches a terminal or a page only as text.
std::string printable(std::string_view text);

/// The same as HTML.
std::string escape(const std::string& raw);

/// A field of a CSV file. Spreadsheets take what begins with = + - @ for a formula: such names get a blank.
std::string csv_field(const std::string& text);

/// A share in per cent; a dash where it is unknown.
std::string percent(double share);

}  // namespace sfft::video
