// SPDX-License-Identifier: Apache-2.0
// Counts the frames in a recording's packets, to detect frames that a decoder drops silently.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "video/sources/libav.hpp"
#include "video/sources/picture_order.hpp"

namespace sfft::video {

class PacketCount {
 public:
  explicit PacketCount(const AVStream& stream);

  /// Counts packet `number`. Returns whether its frame size differs from the previous ones. This is detected
  /// only for MPEG-1 and -2, because their decoder then drops a delayed frame.
  bool add(const AVPacket& packet, std::int64_t number = 0);
  /// Returns the losses found since the last call. Only H.264 and H.265 without interlacing show them.
  std::vector<PictureOrder::Loss> take_losses() {
    return order_ ? order_->take() : std::vector<PictureOrder::Loss>{};
  }
  /// Frames from the first key frame on, except those that the decoder must drop.
  std::int64_t frames() const noexcept { return frames_; }

 private:
  void open_parser();
  void take_parameters(const AVPacket& packet);
  void parse(const AVPacket& packet);
  void follow_order(std::int64_t number);
  bool yields_frame(const AVPacket& packet);
  bool changes_size();

  AVCodecID codec_;
  libav::Context context_;
  libav::Parser parser_;  ///< only for codecs whose fields, sizes or order are watched
  std::optional<PictureOrder> order_;
  int width_ = 0, height_ = 0;
  bool started_ = false;                 ///< a key frame has come
  std::int64_t start_ = AV_NOPTS_VALUE;  ///< presentation time of that key frame
  bool second_field_ = false;            ///< the next field belongs to a frame already counted
  std::int64_t frames_ = 0;
};

}  // namespace sfft::video
