// SPDX-License-Identifier: Apache-2.0
// Detects changes of an input's picture size, depth, pixel format or rate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "video/sources/source.hpp"

namespace sfft::video {

class FormatWatch {
 public:
  /// Notes the format of frame `number`, and sets the frame's segment.
  void note(const PictureFormat& format, std::int64_t number, Frame& frame);
  /// The segment of the latest frame, and of frames known to have its format.
  std::int64_t segment() const noexcept { return segment_; }

  /// The latest changes, at most 1000.
  const std::vector<FormatChange>& changes() const noexcept { return changes_; }
  /// Adds a sentence about the changes, if there were any.
  void warn(std::vector<std::string>& warnings) const;

 private:
  bool begun_ = false;
  PictureFormat now_;
  std::int64_t segment_ = 0, count_ = 0;
  std::vector<FormatChange> changes_;
};

}  // namespace sfft::video
