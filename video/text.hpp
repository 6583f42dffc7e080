// SPDX-License-Identifier: Apache-2.0
// Names and messages that came from elsewhere, made fit to be shown.
#pragma once

#include <string>
#include <string_view>

namespace sfft::video {

/// Valid UTF-8 without control characters: those, and bytes that are no UTF-8, become \xNN. What a
/// recording's header or name holds thus reaches a terminal or a page as text only.
std::string printable(std::string_view text);

}  // namespace sfft::video
