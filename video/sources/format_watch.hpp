// SPDX-License-Identifier: Apache-2.0
// Notices that the pictures of an input change their size, depth, pixel format or rate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "video/sources/source.hpp"

namespace sfft::video {

class FormatWatch {
 public:
  /// Takes the format of the frame with this number, and says in it to which segment it belongs.
  void note(const PictureFormat& format, std::int64_t number, Frame& frame);
  /// The segment of the latest frame, and of those that are known to be like it.
  std::int64_t segment() const noexcept { return segment_; }

  /// Of the changes, the latest ones.
  const std::vector<FormatChange>& changes() const noexcept { return changes_; }
  /// A sentence about them, if there were any.
  void warn(std::vector<std::string>& warnings) const;

 private:
  bool begun_ = false;
  PictureFormat now_;
  std::int64_t segment_ = 0, count_ = 0;
  std::vector<FormatChange> changes_;
};

}  // namespace sfft::video
