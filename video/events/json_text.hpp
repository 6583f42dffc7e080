// SPDX-License-Identifier: Apache-2.0
// JSON values as text, for lines that are written as events happen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sfft::video {

/// A quoted JSON string in valid UTF-8; other bytes are escaped as printable() does.
std::string json_string(std::string_view text);
/// Enough digits for a microsecond within a week; null for NaN and infinities.
std::string json_number(double value);

/// `,"zones":["yard","gate"]`, or nothing if there are none.
std::string zones_member(const std::vector<std::string>& zones);
/// "yard;gate", for a table's field or an environment variable.
std::string zone_list(const std::vector<std::string>& zones);

}  // namespace sfft::video
