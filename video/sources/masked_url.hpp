// SPDX-License-Identifier: Apache-2.0
// Hides the passwords in addresses that reports, events and messages show.
#pragma once

#include <string>
#include <string_view>

namespace sfft::video {

/// Returns the address with "***" in place of the password in its user information (RFC 3986, section 3.2.1).
/// Values of parameters whose names suggest secrets ("password=", "token=") are also replaced, even in the
/// path, where some cameras expect them. Other inputs, such as file names, stay as they are.
///
/// "rtsp://admin:p%40ss@10.0.0.7/stream?token=1" becomes "rtsp://admin:***@10.0.0.7/stream?token=***".
std::string masked_url(std::string_view input);

}  // namespace sfft::video
