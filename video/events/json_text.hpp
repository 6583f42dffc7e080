// SPDX-License-Identifier: Apache-2.0
// JSON values as text, for lines that are written as things happen.
#pragma once

#include <string>
#include <string_view>

namespace sfft::video {

/// A quoted JSON string of valid UTF-8: bytes that printable() does not show come as it writes them.
std::string json_string(std::string_view text);
/// Enough digits for a microsecond in a week; null for NaN and infinities.
std::string json_number(double value);

}  // namespace sfft::video
