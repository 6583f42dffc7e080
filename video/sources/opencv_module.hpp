// SPDX-License-Identifier: Apache-2.0
// Loads the OpenCV readers on demand. OpenCV depends on a hundred shared libraries, and loading them takes
// longer than decoding a short recording.
#pragma once

#include <memory>
#include <string>

#include "video/sources/source.hpp"

namespace sfft::video {

/// Throws InputError, for instance if the module cannot be loaded.
std::unique_ptr<FrameSource> open_images(const std::string& pattern_or_directory);
std::unique_ptr<FrameSource> open_camera(int index, const SourceOptions& options);
/// Recordings and streams, in builds without FFmpeg's libraries.
std::unique_ptr<FrameSource> open_with_opencv(const std::string& path_or_url, const SourceOptions& options);

/// The module exports this as `sfft_opencv_readers`.
struct OpencvReaders {
  std::unique_ptr<FrameSource> (*images)(const std::string& pattern_or_directory);
  std::unique_ptr<FrameSource> (*camera)(int index, const SourceOptions& options);
  std::unique_ptr<FrameSource> (*recording)(const std::string& path_or_url, const SourceOptions& options);
};

}  // namespace sfft::video
