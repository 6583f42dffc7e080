// SPDX-License-Identifier: Apache-2.0
// Detects whether a recording's file ends where its container says it does.
#pragma once

#include <cstdint>
#include <string>

namespace sfft::video {

enum class FileEnd : std::uint8_t {
  unknown,  ///< the container does not say, or is unknown
  whole,    ///< the file is as long as its container
  cut,      ///< the container continues past the end of the file
};

/// Reads a few bytes of the outermost structure of MP4, QuickTime, AVI, Matroska, WebM, MPEG-TS, Ogg or FLV.
/// Throws only std::bad_alloc. An unreadable file gives `unknown`.
FileEnd file_end(const std::string& path);

/// Whether this is an MP4 or QuickTime file without its index ("moov"), which most writers add last. Throws
/// only std::bad_alloc.
bool lacks_index(const std::string& path);

}  // namespace sfft::video
