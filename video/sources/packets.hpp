// SPDX-License-Identifier: Apache-2.0
// Reads the packets of a recording's video alongside the decoder, to learn what the container holds and
// whether frames change size, which OpenCV hides by scaling them. Only in builds that have libavformat.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "video/sources/frame_header.hpp"

namespace sfft::video {

/// Decodes nothing. For use by one thread; interrupt() may be called from another.
class Packets {
 public:
  /// Null for a file that libavformat cannot read or in which it finds no video.
  static std::unique_ptr<Packets> open(const std::string& path);
  ~Packets();
  Packets(const Packets&) = delete;
  Packets& operator=(const Packets&) = delete;

  /// Reads on to the packet of frame `index`, counted from 0, or to the end. Returns the frame's size if it
  /// differs from the first frame's; for H.264, HEVC, AV1, VP8, VP9, MPEG-1, -2, -4 and JPEG.
  std::optional<FrameSize> changed_size(std::int64_t index);
  FrameSize first_size() const noexcept;

  /// Number of frames in the index of an MP4 or QuickTime file; -1: the container has no index, or one that
  /// also counts gaps.
  std::int64_t indexed_frames() const noexcept;
  /// Whether the container's headers state its duration. Otherwise the duration was estimated from what the
  /// file holds and says nothing about what is missing.
  bool claims_duration() const noexcept;

  struct Count {
    std::int64_t frames = 0;  ///< frames from the first key frame on that a decoder is not told to drop
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
