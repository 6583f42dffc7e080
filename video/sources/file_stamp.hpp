// SPDX-License-Identifier: Apache-2.0
// Detects whether an input has changed since its results were kept.
#pragma once

#include <string>

namespace sfft::video {

/// Size and modification time; empty if not a regular file.
std::string file_stamp(const std::string& path);

/// The same for an input; for an image sequence the number of files, their size and the latest time. Empty if
/// it has no files, or one is missing.
std::string input_stamp(const std::string& input);

}  // namespace sfft::video
