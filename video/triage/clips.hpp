// SPDX-License-Identifier: Apache-2.0
// Cuts a stretch out of a recording as it is stored, without decoding it.
#pragma once

#include <string>

namespace sfft::video {

/// Writes what is shown from `start_s` to `end_s` (seconds from the first frame) as Matroska, with sound. The
/// clip begins at the key frame before and appears whole or not at all. Throws InputError for an input that
/// is no file with a picture, or a build without FFmpeg's libraries, and Error(file_unreadable) for an output
/// that cannot be written.
void write_clip(const std::string& input, double start_s, double end_s, const std::string& output);

}  // namespace sfft::video
