// SPDX-License-Identifier: Apache-2.0
// Detects whether an input has changed since its results were stored.
#pragma once

#include <string>

namespace sfft::video {

/// Size and modification time; empty if not a regular file.
std::string file_stamp(const std::string& path);

/// The stamp of an input. For an image sequence it has the number of files, their total size and the latest
/// time. Empty if the input has no files or one is missing.
std::string input_stamp(const std::string& input);

}  // namespace sfft::video
