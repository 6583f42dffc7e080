// SPDX-License-Identifier: Apache-2.0
// Tells whether an input is still what it was when its results were kept.
#pragma once

#include <string>

namespace sfft::video {

/// Size and time of modification; empty for what is no regular file.
std::string file_stamp(const std::string& path);

/// The same of an input: of an image sequence, the number of its files, their size and the latest time. Empty
/// for what has no files, and where one is missing.
std::string input_stamp(const std::string& input);

}  // namespace sfft::video
