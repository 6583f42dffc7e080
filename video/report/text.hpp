// SPDX-License-Identifier: Apache-2.0
// Makes names and messages from outside safe to show.
#pragma once

#include <string>
#include <string_view>

namespace sfft::video {

/// Valid UTF-8 without control characters: these, and bytes that are not UTF-8, become \xNN. Thus a
/// recording's header or name reaches a terminal or a page only as text.
std::string printable(std::string_view text);

}  // namespace sfft::video
