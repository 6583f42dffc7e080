// SPDX-License-Identifier: Apache-2.0
// Sources for everything that OpenCV decodes, in builds that have it.
#pragma once

#include <memory>
#include <string>

#include "video/sources/source.hpp"

namespace sfft::video {

std::unique_ptr<FrameSource> open_images(const std::string& pattern_or_directory);
std::unique_ptr<FrameSource> open_camera(int index);
std::unique_ptr<FrameSource> open_recording(const std::string& path_or_url, const SourceOptions& options);

}  // namespace sfft::video
