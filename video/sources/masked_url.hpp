// SPDX-License-Identifier: Apache-2.0
// Addresses as reports, events and messages show them: without the passwords of cameras.
#pragma once

#include <string>
#include <string_view>

namespace sfft::video {

/// The address with "***" in place of the password of its user information (RFC 3986, section 3.2.1), and of
/// the values of parameters that are named like secrets ("password=", "token="; cameras have them in the
/// path, too). Other inputs, such as file names, stay as they are.
///
/// "rtsp://admin:p%40ss@10.0.0.7/stream?token=1" becomes "rtsp://admin:***@10.0.0.7/stream?token=***".
std::string masked_url(std::string_view input);

}  // namespace sfft::video
