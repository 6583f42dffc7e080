// SPDX-License-Identifier: Apache-2.0
// Encodes bytes as text (base64, RFC 4648).
#pragma once

#include <string>
#include <string_view>

namespace sfft::video {

std::string base64(std::string_view bytes);
/// Throws Error(file_corrupt) if the text is not base64 or not padded.
std::string bytes_from_base64(std::string_view text);

}  // namespace sfft::video
