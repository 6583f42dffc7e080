// SPDX-License-Identifier: Apache-2.0
// Whether a recording's file ends where its container says that it does.
#pragma once

#include <cstdint>
#include <string>

namespace sfft::video {

enum class FileEnd : std::uint8_t {
  unknown,  ///< a container that does not say, or that this does not know
  whole,    ///< the file is as long as its container
  cut,      ///< the container goes on past the end of the file
};

/// Reads the outermost structure of MP4 and QuickTime, AVI, Matroska and WebM, MPEG-TS, Ogg and FLV, a few
/// bytes in all. Throws nothing but std::bad_alloc; a file that cannot be read is unknown.
FileEnd file_end(const std::string& path);

}  // namespace sfft::video
