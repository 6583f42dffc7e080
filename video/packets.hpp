// SPDX-License-Identifier: Apache-2.0
// The packets of a recording's video, read beside the decoder: what the container holds, and what becomes of
// the size of its frames, which OpenCV hides by scaling them. Only in builds that have libavformat.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "video/frame_header.hpp"

namespace sfft::video {

/// Nothing is decoded. One thread uses it; interrupt() may come from another.
class Packets {
 public:
  /// Null for a file that libavformat does not read, or in which it sees no video.
  static std::unique_ptr<Packets> open(const std::string& path);
  ~Packets();
  Packets(const Packets&) = delete;
  Packets& operator=(const Packets&) = delete;

  /// Reads on until there is a packet for frame `index`, counted from 0, or none any more. The frame's size
  /// where it is another one than the first frame's: of H.264, HEVC, AV1, VP8, VP9, MPEG-1, -2, -4 and JPEG.
  std::optional<FrameSize> changed_size(std::int64_t index);
  FrameSize first_size() const noexcept;

  /// How many frames the index of an MP4 or QuickTime file holds; -1: a container without one, or with one
  /// that also counts gaps.
  std::int64_t indexed_frames() const noexcept;
  /// Whether the container's headers name its duration. Else it was estimated from what the file holds, and
  /// says nothing of what is missing.
  bool claims_duration() const noexcept;

  struct Count {
    std::int64_t frames = 0;  ///< that a decoder can begin with a key frame, and is not told to drop
    std::string error;        ///< what ended the reading, if not the end of the file
  };
  /// Reads to the end.
  Count count();

  void interrupt() noexcept { interrupted_ = true; }

 private:
  struct State;
  Packets();
  bool read();

  std::atomic<bool> interrupted_{false};
  std::unique_ptr<State> state_;
};

}  // namespace sfft::video
