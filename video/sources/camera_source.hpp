// SPDX-License-Identifier: Apache-2.0
// Reopens a camera that stops delivering frames, whatever library reads it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "video/sources/source.hpp"

namespace sfft::video {

/// A camera that has been opened.
class Capture {
 public:
  virtual ~Capture() = default;
  /// Size and rate that the camera states; 0: not stated.
  virtual SourceInfo info() const = 0;
  /// Blocks until a frame comes. Returns false if none will come.
  virtual bool read(Frame& frame) = 0;
};
/// Opens a camera, or throws InputError.
using OpenCapture = std::function<std::unique_ptr<Capture>()>;

/// Opens the camera or throws InputError. Frame times are arrival times.
std::unique_ptr<FrameSource> watch_camera(const std::string& name, const SourceOptions& options,
                                          const OpenCapture& open);

}  // namespace sfft::video
