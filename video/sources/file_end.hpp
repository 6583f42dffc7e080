// SPDX-License-Identifier: Apache-2.0
// Finds out whether a recording's file ends where its container says that it does.
#pragma once

#include <cstdint>
#include <string>

namespace sfft::video {

enum class FileEnd : std::uint8_t {
  unknown,  ///< a container that does not say, or one that is not known here
  whole,    ///< the file is as long as its container
  cut,      ///< the container goes on past the end of the file
};

/// Reads a few bytes of the outermost structure of MP4, QuickTime, AVI, Matroska, WebM, MPEG-TS, Ogg or FLV.
/// Throws nothing but std::bad_alloc; a file that cannot be read is unknown.
FileEnd file_end(const std::string& path);

/// Whether this is an MP4 or QuickTime file in which the index is missing ("moov"), which most writers add
/// last. Throws nothing but std::bad_alloc.
bool lacks_index(const std::string& path);

}  // namespace sfft::video
