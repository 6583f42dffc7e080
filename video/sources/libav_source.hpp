// SPDX-License-Identifier: Apache-2.0
// Sources for recordings and streams that FFmpeg's libraries decode, in builds that have them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "video/sources/source.hpp"

namespace sfft::video {

/// Opens a file. Its end is checked for completeness. Throws InputError.
std::unique_ptr<FrameSource> open_recording_file(const std::string& path, const SourceOptions& options);

/// Adds a warning if frames are missing.
void warn_of_losses(const SourceLog& log, std::vector<std::string>& warnings);

/// Opens a network stream, which is reopened when it is lost. Throws InputError.
std::unique_ptr<FrameSource> open_stream(const std::string& url, const SourceOptions& options);

}  // namespace sfft::video
